import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { bedrockProvider } from '@signalbox/dialects'
import type { Frame } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { unsolicitedText } from '../src/chaos/faults-connection.ts'
import { leakedSecret } from '../src/chaos/faults-status.ts'
import { meeting, textFor } from './meet-fault.ts'
import { chunkSizes, isWhole, rawExchange, readFrom, requestText, unchunk, utf8 } from './raw-client.ts'

// Rows 5 to 65: the bytes are what the fault is called.

const { server, meet, streamOf } = meeting()

describe('connections', () => {
  test('reset before the response: no bytes, and a RST', async () => {
    expect(await meet('reset-before-answer')).toMatchObject({ text: '', ended: 'reset' })
  })

  test('reset after the headers: only the headers', async () => {
    expect(await meet('reset-after-headers')).toMatchObject({ status: 200, body: '', ended: 'reset' })
  })

  test('reset in the middle: content arrives first', async () => {
    const { body, ended } = await meet('reset-mid-stream')
    expect(ended).toBe('reset')
    expect(unchunk(body)).toContain('"content":"Signals ')
    expect(body).not.toContain('finish_reason":"stop')
    const whole = await meet('reset-mid-stream', { mode: 'whole' })
    expect(whole.ended).toBe('reset')
    expect(() => JSON.parse(whole.body)).toThrow()
  })

  test('FIN in the middle: a normal close with an incomplete body', async () => {
    const stream = await meet('fin-mid-stream')
    expect(stream.ended).toBe('fin')
    expect(stream.body).not.toContain('\r\n0\r\n\r\n')
    const whole = await meet('fin-mid-stream', { mode: 'whole' })
    expect(whole.ended).toBe('fin')
    expect(whole.body.length).toBeLessThan(Number(/content-length: (\d+)/.exec(whole.headers)?.[1]))
    const complete = await meet('fin-after-terminal')
    expect(complete.ended).toBe('fin')
    expect(unchunk(complete.body)).toContain('[DONE]')
    expect(complete.body).not.toContain('\r\n0\r\n\r\n')
  })

  test('stale keep-alive: the second request on the connection gets a RST', async () => {
    const socket = connect(server().port, '127.0.0.1')
    expect((await readFrom(socket, textFor('stale-keep-alive', {}), { enough: isWhole })).status).toBe(200)
    expect(await readFrom(socket, textFor('stale-keep-alive', {}))).toMatchObject({ text: '', ended: 'reset' })
    socket.destroy()
  })

  test('an unsolicited response follows the requested one', async () => {
    const { text } = await meet('unsolicited-answer', { mode: 'whole' }, { enough: seen => seen.includes(unsolicitedText) })
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
  })

  test('informational responses precede the final one', async () => {
    const enough = (text: string): boolean => text.endsWith('}')
    expect((await meet('continue-first', { mode: 'whole' }, { enough })).text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/)
    expect((await meet('early-hints-first', { mode: 'whole' }, { enough })).text).toMatch(
      /^HTTP\/1\.1 103 .*\r\nlink: .*\r\n\r\nHTTP\/1\.1 200/,
    )
  })

  test('drips, pings and silence match their names', async () => {
    const drip = await meet('drip', {}, { timeoutMs: 200 })
    const sizes = chunkSizes(drip.body)
    expect(sizes.length).toBeGreaterThan(5)
    expect(new Set(sizes.slice(1))).toEqual(new Set([1]))
    expect(unchunk((await meet('pings-for-ever', {}, { timeoutMs: 100 })).body)).toMatch(/^(: ping\n\n)+$/)
    expect(unchunk((await meet('pings-for-ever', { mode: 'whole' }, { timeoutMs: 100 })).body)).toMatch(/^\n+$/)
    expect(await meet('headers-then-silence', {}, { timeoutMs: 50 })).toMatchObject({ status: 200, body: '', ended: 'open' })
    expect(await meet('half-open', {}, { timeoutMs: 50 })).toMatchObject({ text: '', ended: 'open' })
    const late = await meet('late-answer', {}, { timeoutMs: 2_000 })
    expect(late.status).toBe(200)
    expect(late.ms).toBeGreaterThan(900)
  })
})

describe('statuses and bodies', () => {
  test('retry waits are sent in every form', async () => {
    const headersOf = async (name: string): Promise<string> => (await meet(name, { mode: 'whole' })).headers
    expect(await headersOf('retry-after-seconds')).toContain('retry-after: 2')
    const date = /retry-after: (.*GMT)/.exec(await headersOf('retry-after-date'))?.[1] ?? ''
    expect(Date.parse(date) - Date.now()).toBeGreaterThan(17_000)
    expect(await headersOf('no-retry-after')).not.toContain('retry')
    expect(await headersOf('reset-duration')).toContain('x-ratelimit-reset-requests: 6m0s')
  })

  test('errors use the dialect, and some contain secrets', async () => {
    expect(JSON.parse((await meet('status-401', { mode: 'whole' })).body).error.message).toContain(leakedSecret)
    expect((await meet('html-502', { mode: 'whole' })).body.length).toBeGreaterThan(90_000)
    expect(JSON.parse((await meet('failed-in-200', { mode: 'whole', dialect: 'responses' })).body)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error' },
    })
  })

  test('redirects lead to a URL that records requests', async () => {
    const { headers } = await meet('redirect-307-elsewhere', { mode: 'whole' })
    const target = new URL(/location: (.*)/.exec(headers)?.[1] ?? '')
    expect(target.port).not.toBe(String(server().port))
    await rawExchange(Number(target.port), requestText(target.pathname, { stolen: true }))
    expect(server().unexpectedRequests.at(-1)?.json).toEqual({ stolen: true })
  })

  test('compressed bodies match their encoding, or intentionally do not', async () => {
    const bytesOf = async (name: string): Promise<Buffer> =>
      Buffer.from((await meet(name, { mode: 'whole' }, { timeoutMs: 20_000 })).body, 'latin1')
    expect(gunzipSync(await bytesOf('gzip')).toString()).toContain(defaultText)
    expect(brotliDecompressSync(await bytesOf('brotli')).toString()).toContain(defaultText)
    expect(zstdDecompressSync(await bytesOf('zstd')).toString()).toContain(defaultText)
    expect(gunzipSync(gunzipSync(await bytesOf('gzip-twice'))).toString()).toContain(defaultText)
    expect(JSON.parse((await bytesOf('gzip-in-name-only')).toString()).object).toBe('chat.completion')
    const bomb = await bytesOf('gzip-bomb')
    expect(bomb.length).toBeLessThan(500_000)
    expect(gunzipSync(bomb).length).toBeGreaterThan(40 * 1024 * 1024)
  })

  test('headers are too large, too many, invalid, or harmful', async () => {
    expect((await meet('huge-header', { mode: 'whole' })).headers.length).toBeGreaterThan(65_536)
    expect((await meet('many-headers', { mode: 'whole' })).headers.split('\r\n').length).toBeGreaterThan(1_000)
    expect((await meet('invalid-header', { mode: 'whole' })).headers).toContain('\u0000\u0001\u007f')
    expect((await meet('harmful-headers', { mode: 'whole' })).headers).toContain('set-cookie: upstream=1')
  })

  test('the wrong body type, or the right one with the wrong content type', async () => {
    expect(JSON.parse((await meet('json-when-sse')).body).object).toBe('chat.completion')
    expect(unchunk((await meet('sse-when-json', { mode: 'whole' })).body)).toMatch(/^data: /)
    expect((await meet('no-content-type')).headers).not.toContain('content-type')
    expect(await meet('status-204')).toMatchObject({ status: 204, body: '' })
  })
})

describe('framing', () => {
  test('line endings', async () => {
    expect(await streamOf('crlf')).not.toMatch(/[^\r]\n/)
    expect(await streamOf('cr')).not.toContain('\n')
    expect(await streamOf('mixed-line-ends')).toMatch(/\r\n[\s\S]*[^\r]\n[\s\S]*\r[^\n]/)
    const split = await meet('crlf-split')
    expect(split.body).toContain('\r\r\n')
  })

  test('byte-order marks, comments, unknown fields, data over many lines', async () => {
    expect((await streamOf('bom-first')).startsWith('\ufeffdata: ')).toBe(true)
    expect(await streamOf('bom-in-text')).toContain('"content":"\ufeff"')
    expect(await streamOf('noise')).toMatch(/: a comment\n:\n\n\nretry: 10\nid: 7\nfuture-field: x\n\ndata: /)
    expect(await streamOf('data-without-space', { dialect: 'responses' })).toMatch(/^event:response\.created\ndata:\{/)
    expect(await streamOf('data-over-lines')).toMatch(/^data: \{\ndata: {2}"id": /)
  })

  test('truncation at critical points', async () => {
    expect(new Set(chunkSizes((await meet('byte-by-byte')).body))).toEqual(new Set([1]))
    const characters = await meet('characters-split')
    expect(chunkSizes(characters.body).length).toBeGreaterThan(10)
    expect(utf8(unchunk(characters.body))).toContain('日本語')
    const escapes = await streamOf('escapes-split')
    expect(escapes).toContain('\\u65e5')
    expect(escapes).not.toContain('日')
    expect(
      Buffer.from(unchunk((await meet('invalid-utf8')).body), 'latin1').includes(Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80])),
    ).toBe(true)
  })

  test('sizes', async () => {
    const biggest = async (name: string): Promise<number> => {
      const { body } = await meet(name, {}, { timeoutMs: 20_000 })
      return Math.max(
        ...unchunk(body)
          .split('\n')
          .map(line => line.length),
      )
    }
    expect(await biggest('event-of-3-mib')).toBeGreaterThan(3 * 1_048_576)
    expect(await biggest('event-of-5-mib-first')).toBeGreaterThan(5 * 1_048_576)
    expect(chunkSizes((await meet('many-events-a-chunk')).body)).toHaveLength(3)
  })

  test('an endless line stops when the client disconnects', async () => {
    const { text } = await meet('endless-line', {}, { enough: seen => seen.length > 1_000_000 })
    expect(text.slice(300_000, 400_000)).not.toContain('\n\n')
    await server().until('it stops', ({ requests }) => requests.at(-1)?.left === true)
    const sent = server().requests.at(-1)?.written ?? 0
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(server().requests.at(-1)?.written).toBe(sent)
    expect(sent).toBeLessThan(50 * 1_048_576)
  })

  test('missing terminal events, and content after the end', async () => {
    const done = 'data: [DONE]\n\n'
    expect(await streamOf('no-terminal')).not.toMatch(/\[DONE\]|"finish_reason":"/)
    expect(await streamOf('finish-without-done')).toMatch(/"finish_reason":"stop"[\s\S]*"usage":\{[\s\S]*\}\n\n$/)
    expect(await streamOf('done-only')).not.toContain('"finish_reason":"stop"')
    expect(await streamOf('done-without-usage')).not.toContain('prompt_tokens')
    expect(await streamOf('no-final-blank-line')).toMatch(/\}\n$/)
    expect(await streamOf('no-final-newline', { dialect: 'responses' })).toMatch(/event: response\.completed\ndata: .*\}$/)
    const cut = (await streamOf('truncated-json')).split('\n').at(-1) ?? ''
    expect(() => JSON.parse(cut.slice(6))).toThrow()
    expect((await streamOf('terminal-twice')).split(done)).toHaveLength(3)
    expect((await streamOf('content-after-terminal')).split(done)[1]).toContain('too late')
    expect((await streamOf('opening-only', { dialect: 'responses' })).match(/^event: .*$/gm)).toEqual([
      'event: response.created',
      'event: response.in_progress',
    ])
  })

  test('errors in streams, unknown events, unusual numbers', async () => {
    expect(await streamOf('error-first')).toMatch(/^data: \{"error":\{.*"code":"server_error"/)
    expect(await streamOf('overload-after-content', { dialect: 'responses' })).toMatch(
      /output_text\.delta[\s\S]*event: error\n[\s\S]*event: response\.failed\n/,
    )
    expect(await streamOf('unknown-events', { dialect: 'responses' })).toMatch(
      /event: response\.future_thing\.delta\n[\s\S]*event: keepalive\n/,
    )
    expect(await streamOf('invalid-json-first')).toContain('data: {"oops": nope}\n\n')
    const numbers = async (name: string): Promise<readonly string[]> =>
      [...(await streamOf(name, { dialect: 'responses' })).matchAll(/"sequence_number":(\d+)/g)].map(([, at = '']) => at)
    expect(await numbers('sequence-missing')).toEqual([])
    expect(new Set(await numbers('sequence-repeated'))).toEqual(new Set(['3']))
    expect((await numbers('sequence-descending')).slice(0, 3)).toEqual(['1000', '999', '998'])
  })

  test('a RST right after the last content', async () => {
    const { body, ended } = await meet('reset-after-terminal', {}, { enough: () => false })
    expect(ended).toBe('reset')
    expect(unchunk(body)).toContain('[DONE]')
  })

  test('two hundred thousand tokens, one event each', async () => {
    let tokens = 0
    let rest = ''
    const socket = connect(server().port, '127.0.0.1')
    socket.write(textFor('many-tokens', {}))
    for await (const bytes of socket) {
      rest += (bytes as Buffer).toString('latin1')
      const parts = rest.split('"word "')
      tokens += parts.length - 1
      rest = (parts.at(-1) ?? '').slice(-200)
      if (rest.endsWith('\r\n0\r\n\r\n')) break
    }
    expect(tokens).toBe(200_000)
  })
})

describe('the framing of AWS', () => {
  /** What the bytes of a fault are read as, until they break: names of events, then why. */
  const readAs = async (name: string): Promise<readonly string[]> => {
    const bytes = Buffer.from(unchunk((await meet(name, { dialect: 'bedrock' })).body), 'latin1')
    const reader = bedrockProvider.frames?.()
    const names = (frames: readonly Frame[] = []): readonly string[] => frames.map(({ event = '' }) => event)
    const told = [...names(reader?.push(bytes))]
    try {
      return [...told, ...names(reader?.push(new Uint8Array())), ...names(reader?.end())]
    } catch (error) {
      return [...told, String(error)]
    }
  }

  test('messages are valid except for the named fault', async () => {
    const right = await readAs('strange-headers')
    expect(right.slice(-3)).toEqual(['contentBlockStop', 'messageStop', 'metadata'])
    expect((await readAs('checksum-wrong')).at(-1)).toMatch(/checksum of a message is wrong/)
    expect((await readAs('prelude-checksum-wrong')).at(-1)).toMatch(/checksum of a message prelude/)
    expect((await readAs('lengths-contradict')).at(-1)).toMatch(/lengths of a message contradict/)
    expect((await readAs('headers-broken')).at(-1)).toMatch(/headers of a message are broken/)
    expect((await readAs('prelude-truncated')).at(-1)).toBe('contentBlockDelta')
    expect((await readAs('error-message')).at(-1)).toBe('error')
    expect((await readAs('unknown-exception')).at(-1)).toBe('somethingNewException')
    expect((await readAs('invalid-utf8-in-a-message')).length).toBe(right.length + 1)
  })

  test('a message announces an excessive length', async () => {
    const { body } = await meet('message-too-long', { dialect: 'bedrock' }, { enough: seen => seen.length > 1_000_000 })
    const bytes = Buffer.from(unchunk(body), 'latin1')
    expect(() => bedrockProvider.frames?.().push(bytes.subarray(bytes.indexOf(Buffer.from([4, 0, 0, 0, 0, 0, 0, 0]))))).toThrow(
      /longer than/,
    )
  })
})
