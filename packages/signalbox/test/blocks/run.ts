import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toNodeHandler } from 'signalbox/node'
import { newSetting, type Setting } from './setting.ts'

// A process that runs the blocks in a folder, each with values of its own, and with a server for the URLs on pages. It writes a
// line of JSON for each: the file, and what was thrown.

const [folder = '', port = ''] = process.argv.slice(2)

let setting: Setting = newSetting()
let faults: string[] = []
process.on('uncaughtException', error => faults.push(String(error)))
process.on('unhandledRejection', error => faults.push(String(error)))
// What a block prints is the reader's.
for (const method of ['log', 'info', 'warn', 'error'] as const) console[method] = () => {}
const print = process.stdout.write.bind(process.stdout)
process.stdout.write = () => true

const server = createServer((request, response) => toNodeHandler(setting.gateway)(request, response))
server.on('upgrade', (...upgrade) => toNodeHandler(setting.gateway).upgrade(...upgrade))
await new Promise<void>(done => server.listen(Number(port), '127.0.0.1', done))

for (const file of readdirSync(folder).filter(name => /^block-\d+\./.test(name))) {
  setting = newSetting()
  faults = []
  Object.assign(globalThis, setting)
  try {
    await import(pathToFileURL(resolve(folder, file)).href)
    // What a block left running, such as a listener of events, fails now or not at all.
    await new Promise(done => setTimeout(done, 20))
  } catch (error) {
    faults.push(String((error as Error).stack ?? error))
  }
  print(`${JSON.stringify({ file, faults })}\n`)
}
process.exit(0)
