import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/wire.ts'
import { clients } from './clients.ts'
import { ask, openStage, type Stage, scripted } from './stage.ts'
import { canary, tongues } from './tongues.ts'

// A provider gets its own words back, whatever language the client speaks, and no client ever sees them.

const closing: Stage[] = []
afterEach(async () => {
  for (const stage of closing.splice(0)) await stage.close()
})

const stateOf = (turn: number): string => `${canary}${turn}-${'äß+/=\n"\\'.repeat(turn)}`

describe.each(tongues)('a tool loop of three turns with a provider of $name', tongue => {
  describe.each(clients)('and a client of $language', client => {
    test.each([
      { stream: false, words: true },
      { stream: true, words: true },
      { stream: false, words: false },
      { stream: true, words: false },
    ])('stream: $stream, words of thoughts kept: $words', async ({ stream, words }) => {
      const provider = scripted('maker', tongue.dialect, { quirks: tongue.quirks ?? {} })
      provider.play(
        tongue.say({ state: stateOf(1), thought: 'Look first.', call: 'call_1' }),
        tongue.say({ state: stateOf(2), call: 'call_2' }),
        tongue.say({ state: stateOf(3), thought: 'Enough.', text: 'Done.' }),
      )
      const stage = await openStage([provider])
      closing.push(stage)
      const history: JsonObject[] = [client.question('Go.')]
      for (const turn of [1, 2, 3]) {
        const answered = await ask(stage, client.language, client.body(history, stream))
        expect(tongue.statesIn(provider.calls.at(-1) ?? {})).toEqual([1, 2].filter(made => made < turn).map(stateOf))
        if (!tongue.inWords) expect(answered.bytes).not.toContain(canary)
        expect(answered.bytes).toContain('gw1.')
        expect(answered.stamp.warnings).toEqual([])
        history.push(...client.turn(answered, words), client.result(`call_${turn}`, 'Nothing there.'))
      }
    })
  })
})
