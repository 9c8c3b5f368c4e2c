import { type AddressInfo, createServer } from 'node:net'

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(done => server.once('listening', done))
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  return port
}
