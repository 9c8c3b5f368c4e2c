import zlib, { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { AnswerError } from '../answers/answer.ts'
import {
  allFrames,
  type Bytes,
  begin,
  bytesOf,
  chunk,
  type HeaderFields,
  head,
  json,
  jsonType,
  lastChunk,
  type Respond,
  streaming,
  typeOf,
  whole,
  wholeText,
  writeChunks,
} from './acts.ts'
import type { Exchange } from './exchange.ts'
import { alike, brokenByTime, e429, e502, e503, type Fault, faultOf, fine, type Row } from './expect.ts'
import { troubles } from './faults-status.ts'

const MiB = 1_048_576

const errorUnder200 =
  (trouble: AnswerError): Respond =>
  exchange =>
    json(200, exchange.writer.error(trouble))(exchange)

const redirect =
  (status: number, target: (exchange: Exchange) => string): Respond =>
  exchange =>
    whole(status, { location: target(exchange), 'content-type': 'text/plain' }, 'Moved.')(exchange)

const sameHost = (exchange: Exchange): string => `http://${exchange.seen.headers.host ?? ''}/moved`
const elsewhere = (exchange: Exchange): string => `${exchange.elsewhere}${exchange.seen.path}`
const itself = (exchange: Exchange): string => exchange.seen.path

/** The bytes of the correct response. */
const rightBytes = (exchange: Exchange): Bytes => (exchange.stream ? bytesOf(exchange, allFrames(exchange)) : wholeText(exchange))
const rightType = (exchange: Exchange): HeaderFields => (exchange.stream ? typeOf(exchange) : jsonType)

/** The correct bytes with the given headers. */
const under =
  (headers: (exchange: Exchange) => HeaderFields): Respond =>
  exchange =>
    (exchange.stream ? raw(headers(exchange), [rightBytes(exchange)]) : whole(200, headers(exchange), rightBytes(exchange)))(exchange)

const raw =
  (headers: HeaderFields, chunks: Iterable<Bytes>): Respond =>
  async exchange => {
    if ((await exchange.write(head(200, { ...headers, 'transfer-encoding': 'chunked' }))) && (await writeChunks(exchange, chunks)))
      await exchange.write(lastChunk)
  }

const streamWhenJson = streaming(exchange => [bytesOf(exchange, allFrames(exchange))])
const jsonWhenSse: Respond = exchange => json(200, exchange.answer.whole)(exchange)

const packed =
  (encoding: string, pack: (bytes: Buffer) => Bytes): Respond =>
  exchange =>
    whole(200, { ...rightType(exchange), 'content-encoding': encoding }, pack(Buffer.from(rightBytes(exchange))))(exchange)

const identity = (bytes: Buffer): Bytes => bytes

/** Content that a client must skip: whitespace before JSON, a comment, or events of an unknown type if there are no comments. */
function padding(exchange: Exchange, size: number): Buffer {
  if (!exchange.stream) return Buffer.alloc(size, ' ')
  if (!exchange.writer.wire) return Buffer.concat([Buffer.from(': '), Buffer.alloc(size, '-'), Buffer.from('\n\n')])
  const { event = '' } = exchange.writer.unknownFrame(exchange.request)
  const filled = Buffer.from(bytesOf(exchange, [{ event, data: JSON.stringify({ padding: '-'.repeat(MiB) }) }]))
  return Buffer.concat(Array.from({ length: size / MiB }, () => filled))
}

/**
 * 40 MiB of padding in a few kilobytes, before the correct response, so that only a limit can reject it. Compressed once per dialect,
 * because that is slow.
 */
function bomb(encoding: string, pack: (bytes: Buffer) => Bytes): Respond {
  const made = new Map<string, Bytes>()
  const bytesFor = (exchange: Exchange): Bytes => {
    const key = `${exchange.dialect} ${exchange.stream}`
    const bytes = made.get(key) ?? pack(Buffer.concat([padding(exchange, 40 * MiB), Buffer.from(rightBytes(exchange))]))
    made.set(key, bytes)
    return bytes
  }
  return exchange => whole(200, { ...rightType(exchange), 'content-encoding': encoding }, bytesFor(exchange))(exchange)
}

/** Without compression: a body that continues as long as the client reads. */
const endlessBody: Respond = async exchange => {
  await exchange.write(head(200, { ...jsonType, 'transfer-encoding': 'chunked' }))
  await exchange.write(chunk('{"padding":"'))
  const block = 'x'.repeat(65_536)
  for (let sent = 0; sent < 100 * MiB; sent += block.length) if (!(await exchange.write(chunk(block)))) return
  await exchange.gone
}

/** A stream that starts correctly and then sends a flood of one line, or of ignored content. */
const floodAfterContent: Respond = async exchange => {
  if (!(await begin(exchange))) return
  const block = exchange.writer.wire ? padding(exchange, MiB) : '-'.repeat(MiB)
  if (!exchange.writer.wire) await exchange.write(chunk(': '))
  // Checksums make the frames of an event stream more expensive.
  const count = exchange.writer.wire ? 16 : 100
  for (let sent = 0; sent < count; sent += 1) if (!(await exchange.write(chunk(block)))) return
  await exchange.gone
}

const withHeaders =
  (extra: (exchange: Exchange) => Bytes): Respond =>
  async exchange => {
    const type = exchange.stream
      ? { ...typeOf(exchange), 'transfer-encoding': 'chunked' }
      : { ...jsonType, 'content-length': String(Buffer.byteLength(wholeText(exchange))) }
    const start = head(200, type).slice(0, -2)
    await exchange.write(Buffer.concat([Buffer.from(start), Buffer.from(extra(exchange)), Buffer.from('\r\n')]))
    await exchange.write(exchange.stream ? Buffer.concat([chunk(rightBytes(exchange)), Buffer.from(lastChunk)]) : wholeText(exchange))
  }

const manyHeaders = Array.from({ length: 1_000 }, (_, index) => `x-header-${index}: ${'v'.repeat(8)}\r\n`).join('')
const hugeHeader = `x-huge: ${'h'.repeat(65_536)}\r\n`
const invalidHeader = Buffer.from([...Buffer.from('x-invalid: a'), 0x00, 0x01, 0x7f, ...Buffer.from('b\r\n')])
/** Headers that would be harmful if they were forwarded. */
export const harmfulHeaders: HeaderFields = {
  'set-cookie': 'upstream=1; Path=/',
  'access-control-allow-origin': '*',
  'x-request-id': 'evil%0d%0aset-cookie: stolen=1',
  server: 'upstream/1.0',
  'strict-transport-security': 'max-age=31536000',
}

/** Both rejecting and reading it are correct. */
const readOrRefused = { ...fine, status: [200, 502], fallback: 'maybe', code: [] } as const

/** Node supports zstd compression from 22.15 on. */
const zstdRows: readonly Row[] =
  'zstdCompressSync' in zlib
    ? [{ row: 43, name: 'zstd', respond: packed('zstd', bytes => zlib.zstdCompressSync(bytes)), expect: alike(readOrRefused) }]
    : []

const rows: readonly Row[] = [
  { row: 35, name: 'error-in-200', respond: errorUnder200(troubles.serverError), expect: alike(e502) },
  { row: 35, name: 'rate-limit-in-200', respond: errorUnder200(troubles.limited), expect: alike(e429) },
  { row: 35, name: 'overload-in-200', respond: errorUnder200(troubles.overloaded), expect: alike(e503) },
  {
    row: 35,
    name: 'failed-in-200',
    respond: exchange => json(200, exchange.writer.failed(troubles.serverError, exchange.request))(exchange),
    expect: alike(e502),
  },
  { row: 36, name: 'empty-200', respond: whole(200, jsonType, ''), expect: alike(e502) },
  { row: 36, name: 'empty-stream', respond: streaming(() => []), expect: { stream: e502 }, applies: ['stream'] },
  { row: 36, name: 'status-204', respond: async exchange => void (await exchange.write(head(204, {}))), expect: alike(e502) },
  ...[301, 302, 303, 307, 308].map(
    (status): Row => ({ row: 39, name: `redirect-${status}-elsewhere`, respond: redirect(status, elsewhere), expect: alike(e502) }),
  ),
  { row: 39, name: 'redirect-same-host', respond: redirect(307, sameHost), expect: alike(e502) },
  { row: 39, name: 'redirect-loop', respond: redirect(307, itself), expect: alike(e502) },
  { row: 40, name: 'json-when-sse', respond: jsonWhenSse, expect: { stream: fine }, applies: ['stream'] },
  { row: 41, name: 'sse-when-json', respond: streamWhenJson, expect: { whole: { ...fine, usage: 'UR or UE' } }, applies: ['whole'] },
  { row: 42, name: 'no-content-type', respond: under(() => ({})), expect: alike(fine) },
  { row: 42, name: 'plain-content-type', respond: under(() => ({ 'content-type': 'text/plain' })), expect: alike(fine) },
  { row: 42, name: 'octet-content-type', respond: under(() => ({ 'content-type': 'application/octet-stream' })), expect: alike(fine) },
  { row: 42, name: 'json-content-type-on-sse', respond: under(() => jsonType), expect: { stream: fine }, applies: ['stream'] },
  { row: 42, name: 'sse-content-type-on-json', respond: under(typeOf), expect: { whole: fine }, applies: ['whole'] },
  { row: 43, name: 'gzip', respond: packed('gzip', gzipSync), expect: alike(fine) },
  { row: 43, name: 'brotli', respond: packed('br', brotliCompressSync), expect: alike(fine) },
  ...zstdRows,
  { row: 43, name: 'gzip-twice', respond: packed('gzip, gzip', bytes => gzipSync(gzipSync(bytes))), expect: alike(e502) },
  { row: 43, name: 'gzip-in-name-only', respond: packed('gzip', identity), expect: alike(e502) },
  { row: 43, name: 'unknown-encoding', respond: packed('rot13', identity), expect: alike(readOrRefused) },
  { row: 44, name: 'gzip-bomb', respond: bomb('gzip', bytes => gzipSync(bytes, { level: 1 })), expect: alike(e502), heavy: true },
  {
    row: 44,
    name: 'brotli-bomb',
    respond: bomb('br', bytes => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })),
    expect: alike(e502),
    heavy: true,
  },
  { row: 44, name: 'endless-body', respond: endlessBody, expect: { whole: e502 }, applies: ['whole'], heavy: true },
  { row: 44, name: 'flood-after-content', respond: floodAfterContent, expect: { stream: brokenByTime }, applies: ['stream'], hangs: true },
  { row: 45, name: 'huge-header', respond: withHeaders(() => hugeHeader), expect: alike(e502) },
  { row: 45, name: 'many-headers', respond: withHeaders(() => manyHeaders), expect: alike(e502) },
  { row: 45, name: 'invalid-header', respond: withHeaders(() => invalidHeader), expect: alike(e502) },
  {
    row: 46,
    name: 'harmful-headers',
    respond: withHeaders(() =>
      Object.entries(harmfulHeaders)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join(''),
    ),
    expect: alike(fine),
  },
]

export const bodyFaults: readonly Fault[] = rows.map(faultOf)
