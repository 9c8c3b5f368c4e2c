import type { Json, JsonObject } from '@signalbox/dialects/protocol'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { parsed } from '../../src/parsed.ts'
import { type Recording, recordings } from '../../src/recorded.ts'
import { streamHoldings, wholeHoldings } from './holdings.ts'
import { clientDialects, type Player, player, upstreams } from './player.ts'
import type { ClientDialectName } from './received.ts'
import { unusualAnswers } from './unusual-answers.ts'

// Every answer, sent back by its client as the history of the next turn, which is sent to a provider of each dialect: nothing that was delivered
// out is refused, and what the next provider does not get is named by a warning.

const list = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? (value as unknown as readonly JsonObject[]) : [])

const first = 'First question.'
const next = 'Next question.'
const user = (content: Json): JsonObject => ({ role: 'user', content })

/** The next request of a client that has run its tools, in each dialect. */
const nextTurn: Readonly<Record<ClientDialectName, (answer: JsonObject) => JsonObject>> = {
  responses: ({ output }) => {
    const results = list(output).flatMap(({ type, call_id = null }): readonly JsonObject[] => {
      if (type === 'function_call') return [{ type: 'function_call_output', call_id, output: 'ok' }]
      return type === 'custom_tool_call' ? [{ type: 'custom_tool_call_output', call_id, output: 'ok' }] : []
    })
    return { input: [user(first), ...list(output), ...results, user(next)] }
  },
  chat: ({ choices }) => {
    const message = (list(choices)[0]?.message ?? {}) as JsonObject
    const results = list(message.tool_calls).map(({ id = null }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }))
    return { messages: [user(first), message, ...results, user(next)] }
  },
  messages: ({ content = [] }) => {
    const calls = list(content).filter(({ type }) => type === 'tool_use')
    const results = calls.map(({ id = null }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
    const turn = list(content).length > 0 ? [{ role: 'assistant', content }] : []
    return { max_tokens: 1_000, messages: [user(first), ...turn, user([...results, { type: 'text', text: next }])] }
  },
}

/** Only its vendor can read it, and without it the conversation would be another one. */
const refused = (recording: Recording, clientDialect: ClientDialectName, target: string): boolean =>
  clientDialect === 'responses' &&
  target !== 'responses' &&
  JSON.stringify(recording).includes('encrypted_content') &&
  /compaction/.test(recording.name)

const isPlayed = ({ name }: Recording): boolean =>
  inject('isLongRun') || [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) % 10 === 0

const played = [...recordings().all.filter(recording => recording.dialect !== 'error' && isPlayed(recording)), ...unusualAnswers]

let playing: Player
beforeAll(async () => {
  playing = await player()
})
afterAll(() => playing.close())

describe.each(played.map(recording => ({ recording, label: `${recording.vendor}/${recording.name}` })))('$label', ({ recording }) => {
  const held = recording.whole ? wholeHoldings(recording) : streamHoldings(recording)

  // The default run plays each answer to one client.
  const clients = clientDialects.filter((_, at) => inject('isLongRun') || at === played.indexOf(recording) % clientDialects.length)

  if (!held.isFailed)
    test.each(clients)('is accepted as history from a client of %s by providers of every dialect', async clientDialect => {
      const reply = await playing.ask(clientDialect, recording, false)
      expect({ status: reply.status, raw: reply.raw.slice(0, 300) }).toMatchObject({ status: 200 })
      const body = nextTurn[clientDialect](parsed(reply.raw) ?? {})
      const [sentence = ''] = held.text.trim().split(/(?<=[.,!?])/)
      const beginning = sentence.slice(0, 60)
      for (const model of upstreams) {
        const { status, json, sent } = await playing.send(clientDialect, { ...body, model })
        if (refused(recording, clientDialect, model)) {
          expect({ model, status }).toEqual({ model, status: 400 })
          continue
        }
        expect({ model, status, error: json.error ?? null }).toEqual({ model, status: 200, error: null })
        expect(sent).toContain(next)
        const named = list(json.warnings).map(({ message }) => String(message))
        const isSaid = (text: string): boolean => sent.includes(JSON.stringify(text).slice(1, -1))
        expect({ model, beginning, isSaid: isSaid(beginning) }).toEqual({ model, beginning, isSaid: true })
        for (const { name } of held.calls)
          expect({ model, name, isSent: sent.includes(`"${name}"`) }).toEqual({ model, name, isSent: true })
        for (const item of notModeled(body))
          expect({ model, item, isKept: isKept(item, sent, named) }).toEqual({ model, item, isKept: true })
      }
    })
})

/** Items and blocks that hold something which is not text, a call or reasoning. */
function notModeled({ input, messages }: JsonObject): readonly JsonObject[] {
  const items = [...list(input), ...list(messages).flatMap(({ content }) => list(content))]
  return items.filter(({ type }) => type !== undefined && !modeled.has(String(type)))
}

const modeled = new Set([
  ...['message', 'text', 'output_text', 'refusal', 'reasoning', 'thinking', 'redacted_thinking', 'function_call', 'function_call_output'],
  ...['custom_tool_call', 'custom_tool_call_output', 'tool_use', 'tool_result', 'image_generation_call'],
])

/** The names under which calls that a client carries out are sent elsewhere. */
const otherNames: Readonly<Record<string, string>> = {
  local_shell_call: '"local_shell"',
  shell_call: '"shell"',
  apply_patch_call: '"apply_patch"',
  computer_call: '"computer"',
}

const isKept = ({ type: kind, content }: JsonObject, sent: string, named: readonly string[]): boolean => {
  const type = String(kind)
  const name = otherNames[type]
  return (
    sent.includes(`"type":"${type}"`) ||
    (name !== undefined && sent.includes(name)) ||
    (type === 'compaction' && typeof content === 'string' && sent.includes(JSON.stringify(content).slice(1, -1).slice(0, 40))) ||
    named.some(message => message.includes(`\`${type}\``))
  )
}
