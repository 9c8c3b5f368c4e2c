import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { type ChaosProvider, chaosProvider } from '../src/chaos-provider.ts'
import { rawExchange, readFrom, requestText, unchunk, utf8 } from './raw-client.ts'

const chatPath = '/v1/chat/completions'
const responsesPath = '/v1/responses'

let server: ChaosProvider
beforeEach(async () => {
  server = await chaosProvider()
})
afterEach(() => server.close())

/** The `data:` payloads of a stream. */
const payloads = (body: string): readonly string[] => [...utf8(unchunk(body)).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)

describe('the chaos provider without a script', () => {
  test('responds to a chat request with JSON', async () => {
    const { status, headers, body } = await rawExchange(server.port, requestText(chatPath, { model: 'm', messages: [] }))
    expect(status).toBe(200)
    expect(headers).toContain('content-type: application/json')
    expect(JSON.parse(utf8(body))).toMatchObject({
      object: 'chat.completion',
      model: 'm',
      choices: [{ message: { role: 'assistant', content: defaultText }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12 },
    })
  })

  test('streams a chat response: role, finish reason, usage if requested, [DONE]', async () => {
    const ask = (more: object) => rawExchange(server.port, requestText(chatPath, { model: 'm', stream: true, ...more }))
    const data = payloads((await ask({ stream_options: { include_usage: true } })).body)
    expect(JSON.parse(data[0] ?? '')).toMatchObject({ choices: [{ delta: { role: 'assistant' } }], usage: null })
    expect(data.at(-1)).toBe('[DONE]')
    expect(JSON.parse(data.at(-2) ?? '')).toMatchObject({ choices: [], usage: { prompt_tokens: 12 } })
    expect(JSON.parse(data.at(-3) ?? '')).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] })
    const said = data.slice(0, -2).map(text => JSON.parse(text).choices[0].delta.content ?? '')
    expect(said.join('')).toBe(defaultText)
    expect((await ask({})).body).not.toContain('usage')
  })

  test('streams a Responses response with every opening and closing event', async () => {
    const { body } = await rawExchange(server.port, requestText(responsesPath, { model: 'm', stream: true }))
    const events = payloads(body).map(text => JSON.parse(text))
    const types = events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect(events.flatMap(({ type, delta }) => (type.endsWith('text.delta') ? [delta] : [])).join('')).toBe(defaultText)
    const whole = await rawExchange(server.port, requestText(responsesPath, { model: 'm' }))
    expect(events.at(-1).response).toEqual(JSON.parse(utf8(whole.body)))
    expect(utf8(unchunk(body))).toMatch(/^event: response\.created\ndata: \{"type":"response\.created"/)
  })

  test.each([
    ['say:reasoning', /reasoning_content/, /response\.reasoning_summary_text\.delta/],
    ['say:tool', /"tool_calls":\[\{"index":0,"id":"call_1"/, /response\.function_call_arguments\.done/],
    ['say:tools', /"index":1,"id":"call_2"/, /"output_index":2/],
    ['say:refusal', /"refusal":"I /, /response\.refusal\.delta/],
    ['say:length', /"finish_reason":"length"/, /response\.incomplete.*max_output_tokens/],
    ['say:filter', /"finish_reason":"content_filter"/, /response\.incomplete.*content_filter/],
  ])('returns the content that the model name requests: %s', async (model, inChat, inResponses) => {
    const chat = await rawExchange(server.port, requestText(chatPath, { model, stream: true }))
    expect(unchunk(chat.body)).toMatch(inChat)
    const responses = await rawExchange(server.port, requestText(responsesPath, { model, stream: true }))
    expect(unchunk(responses.body)).toMatch(inResponses)
  })

  test('calls a tool if one is required', async () => {
    const { body } = await rawExchange(server.port, requestText(chatPath, { model: 'm', tool_choice: 'required' }))
    expect(JSON.parse(utf8(body)).choices[0].finish_reason).toBe('tool_calls')
  })

  test('serves many requests on one connection, chunked ones too, and records which reused it', async () => {
    const socket = connect(server.port, '127.0.0.1')
    await readFrom(socket, requestText(chatPath, { model: 'one' }))
    await readFrom(socket, `POST ${chatPath} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{"model"\r\n7\r\n:"two"}\r\n0\r\n\r\n`)
    socket.destroy()
    expect(server.requests.map(({ json, reused }) => [json?.model, reused])).toEqual([
      ['one', false],
      ['two', true],
    ])
  })

  test('records when a connection opened, when the body was complete, when it closed, and how much was sent', async () => {
    const before = performance.now()
    const { text } = await rawExchange(server.port, requestText(chatPath, { model: 'm' }))
    await server.until('the close is seen', ({ requests }) => requests[0]?.closedAt !== undefined)
    const [seen] = server.requests
    expect(seen).toMatchObject({ method: 'POST', path: chatPath, json: { model: 'm' }, written: text.length, left: false, stalls: 0 })
    const times = [before, seen?.openedAt ?? 0, seen?.headAt ?? 0, seen?.bodyAt ?? 0, seen?.closedAt ?? 0, performance.now()]
    expect(times).toEqual([...times].sort((one, other) => one - other))
    expect(server.connections()).toBe(0)
  })

  test('refuses unknown paths, methods and bodies, and records requests to unknown paths', async () => {
    expect((await rawExchange(server.port, requestText('/v1/other', { model: 'm' }))).status).toBe(404)
    expect((await rawExchange(server.port, `GET ${chatPath} HTTP/1.1\r\n\r\n`)).status).toBe(405)
    expect((await rawExchange(server.port, `POST ${chatPath} HTTP/1.1\r\ncontent-length: 1\r\n\r\n!`)).status).toBe(400)
    expect(server.unexpectedRequests.map(({ path }) => path)).toEqual(['/v1/other'])
  })

  test('stops writing while the client does not read, and continues afterwards', async () => {
    const size = 32 * 1024 * 1024
    server.next(async line => {
      await line.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
      for (let sent = 0; sent < size; sent += 65_536) if (!(await line.write(Buffer.alloc(65_536, 'a')))) return
    })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(requestText(chatPath, { model: 'm' }))
    await server.until('writing waits', ({ requests }) => requests[0]?.stalled === true)
    await new Promise(resolve => setTimeout(resolve, 100))
    const held = server.requests[0]?.written ?? 0
    expect(held).toBeLessThan(size / 2)
    let read = 0
    socket.on('data', bytes => {
      read += bytes.length
    })
    await server.until('all is read', () => read > size)
    socket.destroy()
    expect(server.requests[0]?.written).toBeGreaterThan(size)
  })
})

describe('a script', () => {
  const ask = (model = 'm') => rawExchange(server.port, requestText(chatPath, { model }))

  test('applies to the next requests, once or as often as given', async () => {
    server.next('status-500', 2)
    server.next('status-503')
    expect([(await ask()).status, (await ask()).status, (await ask()).status, (await ask()).status]).toEqual([500, 500, 503, 200])
    expect(server.requests.map(({ fault }) => fault)).toEqual(['status-500', 'status-500', 'status-503', undefined])
  })

  test('is chosen by the name of the model', async () => {
    expect((await ask('fault:status-529')).status).toBe(529)
    expect((await ask()).status).toBe(200)
  })

  test('applies to all requests until it is removed', async () => {
    server.always('status-402')
    expect([(await ask()).status, (await ask()).status]).toEqual([402, 402])
    server.always(undefined)
    expect((await ask()).status).toBe(200)
  })

  test('with an unknown name throws', () => {
    expect(() => server.next('status-5000')).toThrow(/There is no fault "status-5000"/)
  })
})
