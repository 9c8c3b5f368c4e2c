import { type Speech, streamType } from './fake-content.ts'

/** What the fake provider writes to its socket. */
export const chunk = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

const streamHead = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${streamType}\r\ntransfer-encoding: chunked\r\n\r\n`)

export const firstWrite = ({ head }: Speech): Buffer => Buffer.concat([streamHead, chunk(head)])
export const lastWrite = (speech: Speech): Buffer => Buffer.concat([chunk(speech.tail), Buffer.from('0\r\n\r\n')])

export const wholeWrite = ({ whole }: Speech): Buffer =>
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(whole)}\r\n\r\n${whole}`)
