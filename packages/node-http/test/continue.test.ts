import { connect } from 'node:net'
import { responsesProvider } from '@signalbox/dialects'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scriptedProvider, testGateway } from '../../testing/src/index.ts'
import { type RunningServer, serve } from '../src/index.ts'

let server: RunningServer
let key: string

beforeAll(async () => {
  const { gateway, secret } = await testGateway({ providers: [scriptedProvider({ id: 'p', dialect: responsesProvider })] })
  key = secret
  server = await serve(gateway, { port: 0 })
})
afterAll(() => server.close())

const question = JSON.stringify({ model: 'test-model', input: 'Hi' })

/** Sends the head alone; the body once `100 Continue` has come. */
function send({ secret = key, length = question.length }: { readonly secret?: string; readonly length?: number }): Promise<string> {
  const socket = connect(server.port, '127.0.0.1')
  socket.write(
    `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`,
  )
  return new Promise(resolve => {
    let text = ''
    socket.on('data', piece => {
      text += piece
      if (text.endsWith('100 Continue\r\n\r\n')) socket.write(question)
      else if (/^HTTP\/1.1 4/m.test(text)) socket.destroy()
    })
    socket.on('close', () => resolve(text))
  })
}

test('`100 Continue` is sent once, to a client with a valid key and size', async () => {
  const text = await send({})
  expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200'])
})

test.each([
  ['a key that is not valid', { secret: 'ak_wrong_000000' }, 401],
  ['a body that is too large', { length: 100_000_000 }, 413],
])('a client with %s is refused without it', async (_, options, status) => {
  expect((await send(options)).match(/HTTP\/1.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`])
})
