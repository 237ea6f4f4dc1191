"""Sinks: tell the reason of a death where people look. Nothing is sent without the section `tell` of the configuration.

message.message_of(report)        ->   a Message: a few redacted texts
spool.Spool(folder).put(name, m)  ->   promised: one file for each message and sink
spool.deliver(spool, settings)    ->   each sink gets its messages once, in order; what fails stays for the next time
"""
