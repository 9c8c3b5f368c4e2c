import type { Frame } from '@signalbox/dialects/protocol'
import { expect } from 'vitest'
import type { AnswerContent, WrittenAnswer } from '../../src/answers/index.ts'
import type { Act } from '../../src/index.ts'
import { acts, defaultText } from '../../src/index.ts'
import { openFixture, type Pair } from './fixture.ts'
import { found, type ProviderTraits } from './provider-traits.ts'
import type { Asking, Heard } from './sdk-response.ts'
import { atOnce, interleaved } from './streams.ts'

// What happens between a client and a provider, in any dialects. Each is played by every pair.

export type Scene = (pair: Pair) => Promise<void>

export const look = {
  name: 'look',
  description: 'Looks at a place.',
  parameters: {
    type: 'object' as const,
    properties: { place: { type: 'string' as const } },
    required: ['place'],
    additionalProperties: false,
  },
}
const places = ['Zürich', 'Kyōto', '北京', 'São Paulo', 'Łódź', '"Quoted" \\ {', 'two\nlines', '🚂']
const callsAt = (named: readonly string[]) => named.map(place => ({ name: look.name, arguments: JSON.stringify({ place }, null, 1) }))
const meantBy = ({ name, arguments: written }: { readonly name: string; readonly arguments: string }) => ({
  name,
  arguments: JSON.parse(written),
})

async function ask(pair: Pair, act: Act, asking: Partial<Asking> = {}) {
  const { talk, first } = await openFixture(pair, [act])
  talk.say('Go.')
  const heard = await talk.ask({ stream: pair.stream, ...asking })
  return { heard, sent: first.calls[0]?.body }
}

/** The same answer, streamed differently. */
const toldAs =
  (speech: AnswerContent, change: (told: WrittenAnswer) => readonly Frame[]): Act =>
  context => {
    const { write } = context.writer
    const writer = {
      ...context.writer,
      tell: (...asked: Parameters<typeof write>) => {
        const told = write(...asked)
        return { ...told, content: change(told) }
      },
    }
    return acts.reply(speech)({ ...context, writer })
  }

const manners: Readonly<Record<string, (speech: AnswerContent, traits: ProviderTraits) => Act>> = {
  'one after the other': speech => acts.reply(speech),
  interleaved: (speech, { name }) => toldAs(speech, interleaved(name)),
  'at once': (speech, { name }) => toldAs(speech, atOnce(name)),
}

const calling =
  (count: number, manner: NonNullable<(typeof manners)[string]>): Scene =>
  async pair => {
    const tools = callsAt(places.slice(0, count))
    const { heard } = await ask(pair, manner({ tools }, pair.provider), { tools: [look] })
    expect(heard.calls.map(meantBy)).toEqual(tools.map(meantBy))
    expect(new Set(heard.calls.map(({ id }) => id)).size).toBe(count)
    expect(heard).toMatchObject({ finish: 'calls', text: '', refusal: '' })
  }

const loop: Scene = async pair => {
  const called = (named: readonly string[]) => callsAt(named).map((call, at) => ({ ...call, id: `call_${named[at]?.length}_${at}` }))
  const turns = [places.slice(0, 1), places.slice(2, 5)] as const
  const { talk, first } = await openFixture(pair, [
    acts.reply({ tools: called(turns[0]) }),
    acts.reply({ text: 'More.', tools: called(turns[1]) }),
    acts.reply('Done.'),
  ])
  talk.say('Go.')
  for (const turn of turns) {
    const { calls } = await talk.ask({ stream: pair.stream, tools: [look] })
    talk.answer(
      calls,
      turn.map(place => `Rain in ${place}`),
    )
  }
  expect(await talk.ask({ stream: pair.stream, tools: [look] })).toMatchObject({ text: 'Done.', finish: 'stop', calls: [] })
  expect(first.calls.length).toBe(3)
  for (const [at, { body }] of first.calls.entries()) {
    const asked = turns.slice(0, at).flat()
    const calls = found(body, pair.provider.call)
    expect(calls.map(meantBy)).toEqual(callsAt(asked).map(meantBy))
    expect(found(body, pair.provider.result)).toEqual(calls.map(({ id }, place) => ({ id, output: `Rain in ${asked[place]}` })))
    expect(new Set(calls.map(({ id }) => id)).size).toBe(asked.length)
  }
}

const picture = {
  type: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
} as const

const seeing: Scene = async pair => {
  const { talk, first } = await openFixture(pair, [])
  talk.say('What is it?', picture)
  await talk.ask({ stream: pair.stream })
  expect(found(first.calls[0]?.body, pair.provider.picture)).toEqual([picture])
}

const thinking: Scene = async pair => {
  const { heard } = await ask(pair, acts.reply({ reasoning: 'First the points, then the signal.', text: defaultText }))
  expect(heard).toMatchObject({ reasoning: 'First the points, then the signal.', text: defaultText, told: defaultText })
}

const shaping: Scene = async pair => {
  const { parameters: schema } = look
  const { heard, sent } = await ask(pair, acts.reply(pair.provider.shaped('{"place": "Zürich"}')), { schema })
  expect(JSON.parse(heard.text)).toEqual({ place: 'Zürich' })
  expect(heard).toMatchObject({ told: heard.text, finish: 'stop', calls: [] })
  expect(pair.provider.schemaIn(sent ?? {})).toEqual(schema)
}

const words = 'I will not set two trains on one track.'
const asRefusal = { refusal: words, text: '', finish: 'stop' } as const
const asWords = { refusal: '', text: words, finish: 'filter' } as const

/** What a client receives of a refusal: as text, or as a finish reason. */
const refusals: Readonly<Record<ProviderTraits['refuses'], { readonly openai: Partial<Heard>; readonly messages: Partial<Heard> }>> = {
  refusal: { openai: asRefusal, messages: asWords },
  'refusal at the end': { openai: { ...asRefusal, finish: 'filter' }, messages: { ...asWords, refusal: words } },
  words: { openai: asWords, messages: asWords },
  end: { openai: { ...asRefusal, refusal: '', finish: 'filter' }, messages: { ...asRefusal, refusal: '', finish: 'filter' } },
}

const refusing: Scene = async pair => {
  const { heard } = await ask(pair, acts.reply({ refusal: words }))
  expect(heard).toMatchObject(refusals[pair.provider.refuses][pair.client.dialect === 'messages' ? 'messages' : 'openai'])
}

const ending =
  (finish: 'length' | 'content_filter', heardAs: Heard['finish']): Scene =>
  async pair => {
    const { heard } = await ask(pair, acts.reply({ text: 'This was going to be', finish }))
    expect(heard).toMatchObject({ text: 'This was going to be', finish: heardAs, calls: [] })
  }

const counting: Scene = async pair => {
  const usage = { input: 100, cached: 60, output: 30, reasoning: 10 }
  const { heard } = await ask(pair, acts.reply({ reasoning: 'Hm.', text: 'Yes.', usage }))
  expect(heard.usage).toEqual({ ...usage, ...(pair.provider.hidesReasoning && { reasoning: 0 }) })
}

/** A provider may report no usage; then it is estimated, never reported as 0. */
const estimating: Scene = async pair => {
  const { heard } = await ask(pair, acts.reply({ text: defaultText, usage: 'none' }))
  expect(heard).toMatchObject({ text: defaultText, usage: { cached: 0, reasoning: 0 } })
  expect(heard.usage.input).toBeGreaterThan(0)
  expect(heard.usage.output).toBeGreaterThan(10)
}

const callingBare: Scene = async pair => {
  const { heard } = await ask(pair, acts.reply({ reasoning: 'Hm.', text: 'Looking.', tools: [{ name: 'now', arguments: '' }] }), {
    tools: [{ name: 'now', parameters: { type: 'object', properties: {} } }],
  })
  expect(heard.calls.map(meantBy)).toEqual([{ name: 'now', arguments: {} }])
  expect(heard).toMatchObject({ reasoning: 'Hm.', text: 'Looking.', finish: 'calls' })
}

const surviving =
  (failure: Act): Scene =>
  async pair => {
    const { talk, first, second } = await openFixture(
      pair,
      [failure],
      [acts.reply({ text: defaultText, tools: callsAt(places.slice(0, 2)) })],
    )
    talk.say('Go.')
    const heard = await talk.ask({ stream: pair.stream, tools: [look] })
    expect(heard).toMatchObject({ text: defaultText, told: defaultText, finish: 'calls' })
    expect(heard.calls.map(meantBy)).toEqual(callsAt(places.slice(0, 2)).map(meantBy))
    expect([first.calls.length, second.calls.length]).toEqual([1, 1])
  }

/** A broken whole response falls back to another provider; without one the client receives an error. */
const breaking =
  (failure: Act): Scene =>
  async pair => {
    const { talk, second } = await openFixture(pair, [failure], pair.stream ? [acts.reply()] : [])
    talk.say('Go.')
    await expect(talk.ask({ stream: pair.stream })).rejects.toBeInstanceOf(pair.client.errors.any)
    expect(second.calls.length).toBe(0)
  }

const refused: Scene = async pair => {
  const asked = ask(pair, acts.status(400, { message: 'The points are out of order.', code: 'invalid_request_error' }))
  const error = await asked.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(pair.client.errors.badRequest)
  expect(error).toMatchObject({ status: 400, message: expect.stringContaining('The points are out of order.') })
}

export const scenes: Readonly<Record<string, Scene>> = {
  'text arrives to the character': async pair => {
    const { heard } = await ask(pair, acts.reply())
    expect(heard).toMatchObject({ text: defaultText, told: defaultText, finish: 'stop', calls: [], refusal: '', reasoning: '' })
  },
  ...Object.fromEntries(
    [1, 3, 8].flatMap(count =>
      Object.entries(manners).map(([manner, act]) => [`${count} calls that come ${manner} arrive in order`, calling(count, act)]),
    ),
  ),
  'a tool loop shows the provider each call with its result': loop,
  'an image reaches the provider in its own form': seeing,
  'thoughts are seen': thinking,
  'a schema reaches the provider, and the answer keeps to it': shaping,
  'a refusal is heard': refusing,
  'an answer cut at its limit says so': ending('length', 'length'),
  'an answer withheld by a filter says so': ending('content_filter', 'filter'),
  'each token is counted once': counting,
  'tokens that nobody counted are estimated': estimating,
  'an answer without a word is an answer': async pair => {
    const { heard } = await ask(pair, acts.reply(''))
    expect(heard).toMatchObject({ text: '', told: '', finish: 'stop', calls: [], refusal: '' })
  },
  'a call without arguments has none, behind thoughts and words': callingBare,
  'a status before the first word leads to the other provider': surviving(acts.status(429, { code: 'rate_limit_exceeded' })),
  'an error in place of the first word leads to the other provider': surviving(acts.errorFirst()),
  'a break before the first word leads to the other provider': surviving(acts.preambleThenFail()),
  'what ends too early is an error': breaking(acts.endAfter(4)),
  'what the provider refuses is the fault of the request': refused,
}

/** Only a stream can fail after a part of it was received. */
export const streamedScenes: Readonly<Record<string, Scene>> = {
  'an error after the first word is an error': breaking(acts.errorAfter(4)),
  'a break after the first word is an error': breaking(acts.breakAfter(4)),
}
