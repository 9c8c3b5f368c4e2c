#!/usr/bin/env node
// Node's version comes first: an old one would fail inside a dependency, with an error that does not name the reason.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 19)) await import('@signalbox/cli/main')
else {
  process.stderr.write(`signalbox: this is Node ${process.versions.node}; Signalbox needs Node 22.19 or newer.\n`)
  process.exitCode = 1
}

export {}
