console.log("step 0 loss 0.5");
const batch = {};
batch.label.length || fail("ENOSPC: no space left on device, write");
