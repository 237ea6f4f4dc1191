use Carp;
$| = 1;
sub step { my ($b, $advice) = @_; confess "no label" unless exists $b->{label}; }
print "step 0 loss 0.5\n";
step({}, "CUDA out of memory. Tried to allocate 2.00 GiB");
