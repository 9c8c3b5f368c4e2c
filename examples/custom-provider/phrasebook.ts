// A provider inside the process: what it answers needs no model and no network. It speaks Chat Completions, as a server would.
import type { Frame, JsonObject, Provider } from 'signalbox/custom'
import { chatProvider } from 'signalbox/dialects'

/** Answers with the phrase whose key is in the last message, or with `otherwise`. */
export function phrasebook(phrases: Readonly<Record<string, string>>, otherwise: string): Provider<'phrasebook'> {
  return {
    id: 'phrasebook',
    displayName: 'Phrasebook',
    dialects: [chatProvider],
    credential: { id: 'phrasebook:platform', owner: 'platform', secret: '' },
    dataPolicy: 'zdr',
    endpoint: () => 'phrasebook://',
    authorize: () => {},
    async answer({ body, stream }) {
      const question = JSON.stringify(Array.isArray(body.messages) ? body.messages.at(-1) : '').toLowerCase()
      const [, content = otherwise] = Object.entries(phrases).find(([key]) => question.includes(key)) ?? []
      const about = { id: 'chatcmpl-1', created: 0, model: body.model ?? '' }
      const usage = { prompt_tokens: Math.ceil(question.length / 4), completion_tokens: Math.ceil(content.length / 4) }
      if (stream) return { status: 200, frames: framesOf(content, about, usage) }
      const message = { role: 'assistant', content }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return { status: 200, body: { ...about, object: 'chat.completion', choices, usage } }
    },
  }
}

async function* framesOf(content: string, about: JsonObject, usage: JsonObject): AsyncGenerator<readonly Frame[]> {
  const chunk = (rest: JsonObject): Frame => ({ data: JSON.stringify({ ...about, object: 'chat.completion.chunk', ...rest }) })
  yield [chunk({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] })]
  yield [chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), chunk({ choices: [], usage }), { data: '[DONE]' }]
}
