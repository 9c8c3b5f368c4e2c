// Runs several examples in one process, one after the other: `node run-together.ts hono:8001 express:8002 router-only`.
import { existsSync } from 'node:fs'

for (const example of process.argv.slice(2)) {
  const [name, port] = example.split(':')
  // An example reads its port while it is loaded.
  if (port) process.env.PORT = port
  console.log(`--- ${name}`)
  const server = new URL(`../${name}/server.ts`, import.meta.url)
  await import(existsSync(server) ? server.href : new URL('index.ts', server).href)
}
console.log('---')

// One of them may wait for its own requests, while the others would go on.
process.once('SIGTERM', () => process.exit())
