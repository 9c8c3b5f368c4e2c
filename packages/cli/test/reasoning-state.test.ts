import { catalogModels } from '@signalbox/catalog'
import type { JsonObject, Model, Offer, Provider } from '@signalbox/dialects/protocol'
import { compatible } from '@signalbox/providers'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Client, clients } from '../../core/test/state/clients.ts'
import { type Answered, ask, type Fixture, openFixture, type Scripted, scripted } from '../../core/test/state/fixture.ts'
import { canary, stateWriters } from '../../core/test/state/state-writers.ts'
import { fieldsOf } from '../src/access.ts'
import { builtIns } from '../src/built-in.ts'

// A tool loop with every vendor: the model gets its reasoning back, or the client is informed that it did not.

const values = { api_key: 'k', region: 'us-east-1', resource: 'r', project: 'p', location: 'global', account_id: 'a' } as const

/** A built-in provider that plays a script, in one of its dialects. */
function played({ dialects, quirks, quirksOf }: Provider, id: string, dialect: string): Scripted {
  const own = dialects.find(({ name }) => name === dialect)
  if (!own) throw new Error(`${id} does not speak ${dialect}.`)
  return scripted(id, own, { ...(quirks && { quirks }), ...(quirksOf && { quirksOf }) })
}

const offer = (provider: string, dialect: string, provider_model_id: string): Offer => ({
  provider,
  api: dialect,
  model: provider_model_id,
  price: { input: 0, output: 0 },
})

/** Ids as people write them in a list of their own. */
const listed = ['deepseek-v4-pro', 'deepseek-reasoner', 'deepseek-chat', 'Kimi-K2-Thinking', 'kimi-k3', 'glm-4.6', 'MiniMax-M2']
const others = ['gpt-oss-120b', 'qwen3-32b', 'my-own-thinker', 'deepseek-ai/DeepSeek-R1-0528', 'claude-opus-5', 'gemini-3-pro', 'gpt-6']

const isR1 = (model: string): boolean => /r1/i.test(model)

interface Scene {
  readonly provider: Scripted
  readonly fixture: Fixture
}

const wordsOf = (answered: Answered): readonly string[] => answered.metadata.warnings.map(({ code }) => code)

interface Field {
  readonly name: string
  readonly rename: (said: JsonObject) => JsonObject
}

/** The reasoning fields of hosts of the chat dialect. */
const fields: readonly Field[] = [
  { name: 'reasoning_content', rename: said => said },
  {
    name: 'reasoning',
    rename: ({ reasoning_content: reasoning, ...rest }) => ({ ...rest, ...(reasoning !== undefined && { reasoning }) }),
  },
  {
    name: 'reasoning_details',
    rename: ({ reasoning_content: text, ...rest }) => ({
      ...rest,
      ...(text !== undefined && { reasoning_details: [{ type: 'reasoning.text', text }] }),
    }),
  },
]

function renamed(body: JsonObject, { rename }: Field): JsonObject {
  if (!Array.isArray(body.choices)) return body
  return { ...body, choices: body.choices.map((choice: JsonObject) => ({ ...choice, message: rename(choice.message as JsonObject) })) }
}

/** Every text in a body, at any depth. */
const holds = (body: JsonObject, text: string): boolean => JSON.stringify(body).includes(JSON.stringify(text).slice(1, -1))

interface Loop {
  readonly model: string
  readonly client: Client
  readonly field: Field
}

/** The problems after a tool loop. */
async function faultsOf({ provider, fixture }: Scene, { model, client, field }: Loop): Promise<readonly string[]> {
  const dialect = provider.dialects[0]?.name ?? ''
  const writer = stateWriters.find(({ name }) => name.split(',')[0] === dialect)
  if (!writer) throw new Error(`No writer speaks ${dialect}.`)
  const state = `${canary}of ${model}`
  const first = writer.say({ state, reasoning: 'Look first.', call: 'call_1' })
  const last = writer.say({ state: `${state} again`, text: 'Done.' })
  if ('status' in first || 'status' in last) throw new Error('These are answers.')
  provider.play({ ...first, whole: renamed(first.whole, field) }, { ...last, whole: renamed(last.whole, field) })
  const question = client.question('Go.')
  const answered = await ask(fixture, client.dialect, { ...client.body([question], false), model })
  const history = [question, ...client.turn(answered, true), client.result('call_1', 'Nothing there.')]
  const again = await ask(fixture, client.dialect, { ...client.body(history, false), model })
  expect(wordsOf(answered)).not.toContain('reasoning_state_dropped')
  const body = provider.calls.at(-1) ?? {}
  const isBack = holds(body, state)
  const isWarned = wordsOf(again).includes('reasoning_state_dropped')
  if (isR1(model) && dialect === 'chat') return isWarned && !isBack ? [] : [`${model}: R1 gets none, and the caller hears of it`]
  return isBack && !isWarned ? [] : [`${client.dialect} ${field.name} ${model}: back ${isBack}, warned ${isWarned}`]
}

const builtInRows = builtIns.map((row): readonly [id: string, provider: Provider] => {
  const access = Object.entries(values).filter(([name]) => fieldsOf(row).some(each => each === name))
  return [row.id, row.make(Object.fromEntries(access))]
})
const rows = [...builtInRows, ['compatible', compatible({ id: 'compatible', baseURL: 'http://127.0.0.1:1/v1' })] as const]

describe.each(rows)('the reasoning of models at %s', (id, row) => {
  describe.each(row.dialects.map(({ name }) => name))('in dialect %s', dialect => {
    const sold = catalogModels({ providers: [id], apis: [dialect] }).flatMap(({ offers }) =>
      offers.filter(each => each.abilities?.includes('reasoning') && each.abilities.includes('tools')),
    )
    const all = [
      ...sold.map(({ retiresAt: _retires_at, ...each }) => ({ ...each, price: { input: 0, output: 0 } })),
      ...[...listed, ...others].map(each => offer(id, dialect, each)),
    ]
    // The default run tries a tenth of the models of each host, others at the next host.
    const number = rows.findIndex(([each]) => each === id)
    const offers = all.filter((_, at) => inject('isLongRun') || (at + number) % 10 === 0)
    let scene: Scene
    beforeAll(async () => {
      const provider = played(row, id, dialect)
      const models = offers.map((each, at): Model => ({ id: `${at}:${each.model}`, offers: [each] }))
      scene = { provider, fixture: await openFixture([provider], { models }) }
    })
    afterAll(() => scene.fixture.close())

    test.each(clients.slice(0, inject('isLongRun') ? undefined : 1))(
      'is sent back in a tool loop of a client of $dialect',
      async client => {
        const wrong: string[] = []
        for (const field of dialect === 'chat' ? fields : fields.slice(0, 1))
          for (const [at, { model }] of offers.entries()) wrong.push(...(await faultsOf(scene, { model: `${at}:${model}`, client, field })))
        expect(wrong).toEqual([])
      },
    )
  })
})

describe('a client of chat that stores only the reasoning text', () => {
  const chat = clients.find(({ dialect }) => dialect === 'chat')

  test.each([
    ['together', 'deepseek-v4-pro', 'reasoning'],
    ['novita', 'moonshotai/kimi-k3', 'reasoning_content'],
    ['compatible', 'glm-4.6', 'reasoning_content'],
    ['compatible', 'gpt-oss:20b', 'reasoning'],
    ['compatible', 'my-own-thinker', 'reasoning_content'],
    ['groq', 'openai/gpt-oss-120b', 'reasoning'],
  ])('has it sent to %s, for %s, as `%s`', async (id, model, field) => {
    const row = rows.find(([each]) => each === id)?.[1]
    if (!row || !chat) throw new Error(`There is no row ${id}.`)
    const provider = played(row, id, 'chat')
    const answer = stateWriters.find(({ name }) => name.startsWith('chat'))?.say({ state: 'x', text: 'Done.' })
    if (answer) provider.play(answer)
    const fixture = await openFixture([provider], { models: [{ id: 'model', offers: [offer(id, 'chat', model)] }] })
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const turn = { role: 'assistant', content: null, reasoning_content: 'Look first.', tool_calls: [call] }
    await ask(fixture, 'chat', chat.body([chat.question('Go.'), turn, chat.result('call_1', 'Nothing there.')], false))
    const { reasoning_content, ...rest } = turn
    expect(provider.calls[0]).toMatchObject({ messages: [{ role: 'user' }, { ...rest, [field]: 'Look first.' }, { role: 'tool' }] })
    await fixture.close()
  })
})
