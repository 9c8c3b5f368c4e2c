import type { Frame, JsonObject, LocalReply, ProviderDialect } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { fakeClock } from '../src/fake-clock.ts'
import { type Act, acts, scriptedProvider } from '../src/scripted-provider.ts'

const unused = (): never => {
  throw new Error('The script needs no codec.')
}
const dialect = (name: string): ProviderDialect => ({
  name,
  encodeRequest: unused,
  decodeResponse: unused,
  decodeEvents: unused,
  decodeFailure: unused,
})

const clock = fakeClock()
const playing = (...script: readonly Act[]) => scriptedProvider({ id: 'scripted', dialect: dialect('chat'), clock, acts: script })

const ask = (
  provider: ReturnType<typeof playing>,
  { stream = false, signal = new AbortController().signal, body = { model: 'm' } as JsonObject } = {},
): Promise<LocalReply> => provider.answer?.({ body, stream, signal }) ?? expect.fail('no answer')

const wholeOf = async (reply: Promise<LocalReply>) => {
  const told = await reply
  return 'body' in told ? told : expect.fail('a stream')
}

/** The events before its end, and the end. */
async function framesOf(reply: Promise<LocalReply>): Promise<{ readonly data: readonly string[]; readonly broken: unknown }> {
  const told = await reply
  if (!('frames' in told)) return expect.fail('not a stream')
  const frames: Frame[] = []
  try {
    for await (const batch of told.frames) frames.push(...batch)
  } catch (broken) {
    return { data: frames.map(({ data }) => data), broken }
  }
  return { data: frames.map(({ data }) => data), broken: undefined }
}

describe('the scripted provider', () => {
  test('responds correctly after the end of its script, and records its requests', async () => {
    const provider = playing(acts.reply('Hello there'))
    expect((await wholeOf(ask(provider))).body).toMatchObject({ choices: [{ message: { content: 'Hello there' } }] })
    const { data } = await framesOf(ask(provider, { stream: true }))
    expect(data.at(-1)).toBe('[DONE]')
    expect(data.map(text => (text === '[DONE]' ? '' : (JSON.parse(text).choices[0]?.delta.content ?? ''))).join('')).toBe(defaultText)
    expect(provider.calls).toMatchObject([
      { stream: false, finished: true, aborted: false, body: { model: 'm' } },
      { stream: true, finished: true, aborted: false },
    ])
  })

  test('calls tools, and returns error statuses with Retry-After', async () => {
    const provider = playing(acts.toolCall('add', { a: 1 }), acts.status(429, { retryAfter: 3, code: 'rate_limit_exceeded' }))
    expect((await wholeOf(ask(provider))).body).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { name: 'add', arguments: '{"a":1}' } }] } }],
    })
    expect(await wholeOf(ask(provider))).toMatchObject({
      status: 429,
      headers: { 'retry-after': '3' },
      body: { error: { code: 'rate_limit_exceeded' } },
    })
  })

  test('waits on the fake clock', async () => {
    const provider = playing(acts.stall(60_000))
    const reply = wholeOf(ask(provider))
    await clock.advance(59_999)
    expect(provider.calls[0]?.finished).toBe(false)
    await clock.advance(1)
    expect((await reply).status).toBe(200)
  })

  test('stops waiting at once when the client disconnects', async () => {
    const provider = playing(acts.stall(60_000), acts.never())
    for (const at of [0, 1]) {
      const leaving = new AbortController()
      const reply = ask(provider, { signal: leaving.signal })
      leaving.abort(new Error('left'))
      await expect(reply).rejects.toThrow('left')
      expect(provider.calls[at]).toMatchObject({ aborted: true, finished: false })
    }
    expect(clock.pending()).toBe(0)
  })

  test('breaks the response at the given point', async () => {
    const script = [acts.preambleThenFail(), acts.breakAfter(2), acts.endAfter(3)]
    const streamed = playing(...script)
    const preamble = await framesOf(ask(streamed, { stream: true }))
    expect(preamble).toMatchObject({ data: { length: 1 }, broken: { code: 'ECONNRESET' } })
    expect(await framesOf(ask(streamed, { stream: true }))).toMatchObject({ data: { length: 3 }, broken: { code: 'ECONNRESET' } })
    expect(await framesOf(ask(streamed, { stream: true }))).toMatchObject({ data: { length: 4 }, broken: undefined })
    expect(streamed.calls.map(({ finished }) => finished)).toEqual([false, false, false])
    const whole = playing(...script)
    await expect(ask(whole)).rejects.toMatchObject({ code: 'ECONNRESET' })
    await expect(ask(whole)).rejects.toMatchObject({ code: 'ECONNRESET' })
    await expect(ask(playing(acts.unreachable()))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('pauses in the middle', async () => {
    const provider = playing(acts.pauseAfter(1, 5_000))
    const told = framesOf(ask(provider, { stream: true }))
    await clock.advance(4_999)
    expect(provider.calls[0]?.finished).toBe(false)
    await clock.advance(1)
    expect((await told).data.at(-1)).toBe('[DONE]')
  })

  test('sends errors first, or after content', async () => {
    const provider = playing(acts.errorFirst('server_is_overloaded'), acts.errorAfter(2, 'rate_limit_exceeded'))
    expect(JSON.parse((await framesOf(ask(provider, { stream: true }))).data[0] ?? '')).toMatchObject({
      error: { code: 'server_is_overloaded' },
    })
    const late = (await framesOf(ask(provider, { stream: true }))).data
    expect(late).toHaveLength(4)
    expect(JSON.parse(late[3] ?? '')).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
  })

  test('accepts more acts later, and only dialects that it supports', async () => {
    const provider = playing()
    provider.play(acts.status(503))
    expect((await wholeOf(ask(provider))).status).toBe(503)
    expect(() => scriptedProvider({ id: 'x', dialect: dialect('esperanto') })).toThrow(/"esperanto" is not spoken here/)
  })
})
