import { isObject, type JsonObject } from '@signalbox/core/protocol'
import { bedrockTongue } from './bedrock.ts'
import { chatTongue } from './chat.ts'
import { geminiTongue } from './gemini.ts'
import { messagesTongue } from './messages.ts'
import { responsesTongue } from './responses.ts'
import { type Asked, defaultText, type Speech, type Tongue } from './speech.ts'

export type SpokenDialect = 'responses' | 'chat' | 'messages' | 'gemini' | 'bedrock'

export const tongues: Readonly<Record<SpokenDialect, Tongue>> = {
  responses: responsesTongue,
  chat: chatTongue,
  messages: messagesTongue,
  gemini: geminiTongue,
  bedrock: bedrockTongue,
}

export const isSpoken = (name: string): name is SpokenDialect => Object.hasOwn(tongues, name)

/** What a model id of the form `say:…` answers; every other model says `text`. */
export const speeches = {
  text: { text: defaultText },
  reasoning: { reasoning: 'First the points, then the signal.', text: defaultText },
  tool: { tools: [{ name: 'get_weather', arguments: '{"city": "Zürich", "unit": "celsius"}' }] },
  tools: {
    text: 'Looking both up.',
    tools: [
      { name: 'get_weather', arguments: '{"city": "Zürich"}' },
      { name: 'get_weather', arguments: '{"city": "Kyōto"}' },
    ],
  },
  refusal: { refusal: 'I will not set two trains on one track.' },
  length: { text: 'This was going to be a long', finish: 'length' },
  filter: { text: 'The rest is', finish: 'content_filter' },
  silent: { text: defaultText, usage: 'none' },
  empty: { text: '' },
} as const satisfies Record<string, Speech>

export type SpeechName = keyof typeof speeches

/** The words asked for by the model's name, a tool call where one is demanded, else plain text. */
export function speechFor(body: JsonObject): Speech {
  const wanted = /^say:(.+)$/.exec(String(body.model))?.[1]
  if (wanted !== undefined && Object.hasOwn(speeches, wanted)) return speeches[wanted as SpeechName]
  return isDemand(body.tool_choice) || isDemandConfig(body.toolConfig) ? speeches.tool : speeches.text
}

const isDemand = (choice: JsonObject[string]): boolean =>
  choice === 'required' || (isObject(choice) && (choice.type === 'any' || choice.type === 'tool'))

const isDemandConfig = (config: JsonObject[string]): boolean => {
  const { functionCallingConfig, toolChoice } = isObject(config) ? config : {}
  return (
    (isObject(functionCallingConfig) && functionCallingConfig.mode === 'ANY') ||
    (isObject(toolChoice) && (toolChoice.any !== undefined || toolChoice.tool !== undefined))
  )
}

export const askedBy = (body: JsonObject): Asked => ({
  model: typeof body.model === 'string' ? body.model : 'unnamed',
  includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
})
