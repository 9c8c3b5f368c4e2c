import type { JsonObject } from '@signalbox/dialects/protocol'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { clients } from '../../../test/state/clients.ts'
import { ask, type Fixture, openFixture, scripted } from '../../../test/state/fixture.ts'
import { canary, stateWriters } from '../../../test/state/state-writers.ts'

// A provider gets its own state back, whatever dialect the client uses, and no client ever sees the state.

const closing: Fixture[] = []
afterEach(async () => {
  for (const fixture of closing.splice(0)) await fixture.close()
})

const deliveries = [
  { stream: false, words: true },
  { stream: true, words: true },
  { stream: false, words: false },
  { stream: true, words: false },
]
/** The default run tries every second of such a list, and the others with the next client. */
const isTried = (at: number): boolean => inject('isLongRun') || at % 2 === 0

const stateOf = (turn: number): string => `${canary}${turn}-${'äß+/=\n"\\'.repeat(turn)}`

describe.each(stateWriters)('a tool loop and a second question with a provider of $name', writer => {
  describe.each(clients)('and a client of $dialect', client => {
    const number = stateWriters.indexOf(writer) + clients.indexOf(client)
    test.each(deliveries.filter((_, at) => isTried(at + number + Number(at > 1))))(
      'stream: $stream, reasoning text kept: $words',
      async ({ stream, words }) => {
        const provider = scripted('maker', writer.dialect, { quirks: writer.quirks ?? {} })
        provider.play(
          writer.say({ state: stateOf(1), reasoning: 'Look first.', call: 'call_1' }),
          writer.say({ state: stateOf(2), call: 'call_2' }),
          writer.say({ state: stateOf(3), reasoning: 'Enough.', text: 'Done.' }),
          writer.say({ state: stateOf(4), text: 'Bye.' }),
        )
        const fixture = await openFixture([provider])
        closing.push(fixture)
        const history: JsonObject[] = [client.question('Go.')]
        for (const turn of [1, 2, 3, 4]) {
          const answered = await ask(fixture, client.dialect, client.body(history, stream))
          expect(writer.statesIn(provider.calls.at(-1) ?? {})).toEqual([1, 2, 3].filter(made => made < turn).map(stateOf))
          if (!writer.inWords) expect(answered.bytes).not.toContain(canary)
          expect(answered.bytes).toContain('gw1.')
          expect(answered.metadata.warnings).toEqual([])
          history.push(
            ...client.turn(answered, words),
            turn < 3 ? client.result(`call_${turn}`, 'Nothing there.') : client.question('And?'),
          )
        }
      },
    )
  })
})

describe.each(clients)('a $dialect client’s conversation that changes its provider in the middle', client => {
  const pairs = stateWriters
    .flatMap(first => stateWriters.filter(other => other !== first).map(second => ({ first, second })))
    .filter((_, at) => isTried(at + clients.indexOf(client)))

  test.each(pairs)('from $first.name to $second.name and back', async ({ first, second }) => {
    const a = scripted('a', first.dialect, { quirks: first.quirks ?? {} })
    const b = scripted('b', second.dialect, { quirks: second.quirks ?? {} })
    a.play(first.say({ state: stateOf(1), call: 'call_1' }), first.say({ state: stateOf(3), text: 'Done.' }))
    b.play(second.say({ state: stateOf(2), call: 'call_2' }))
    const fixture = await openFixture([a, b])
    closing.push(fixture)
    const history: JsonObject[] = [client.question('Go.')]
    const called = [a, b, a]
    for (const [at, provider] of called.entries()) {
      const routing = { only: [provider.id] }
      const answered = await ask(fixture, client.dialect, { ...client.body(history, true), gateway: { routing } })
      expect(answered.metadata.warnings.map(({ code }) => code)).toEqual(at === 0 ? [] : ['reasoning_state_dropped'])
      history.push(...client.turn(answered, false), client.result(`call_${at + 1}`, 'Nothing there.'))
    }
    expect(second.statesIn(b.calls[0] ?? {})).not.toContain(stateOf(1))
    expect(first.statesIn(a.calls[1] ?? {})).toEqual([stateOf(1)])
    expect(JSON.stringify([a.calls, b.calls])).not.toContain('gw1.')
  })
})

test.each(stateWriters)('a Chat client that keeps only tool calls still returns its state to a provider of $name', async writer => {
  const client = clients.find(({ dialect }) => dialect === 'chat')
  const provider = scripted('maker', writer.dialect, { quirks: writer.quirks ?? {} })
  provider.play(writer.say({ state: stateOf(1), call: 'call_1' }), writer.say({ state: stateOf(2), text: 'Done.' }))
  const fixture = await openFixture([provider])
  closing.push(fixture)
  const history: JsonObject[] = [{ role: 'user', content: 'Go.' }]
  const answered = await ask(fixture, 'chat', client?.body(history, true) ?? {})
  const calls = client
    ?.turn(answered, false)
    .map(({ content, tool_calls }) => ({ role: 'assistant', content: content ?? null, tool_calls: tool_calls ?? null }))
  await ask(fixture, 'chat', client?.body([...history, ...(calls ?? []), client.result('call_1', 'Nothing there.')], true) ?? {})
  expect(writer.statesIn(provider.calls[1] ?? {})).toEqual([stateOf(1)])
})
