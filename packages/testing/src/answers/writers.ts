import type { BuiltInDialect } from '@signalbox/dialects'
import { isObject, type JsonObject } from '@signalbox/dialects/protocol'
import { type AnswerContent, type AnswerRequest, type AnswerWriter, defaultText } from './answer.ts'
import { bedrockWriter } from './bedrock.ts'
import { chatWriter } from './chat.ts'
import { geminiWriter } from './gemini.ts'
import { messagesWriter } from './messages.ts'
import { responsesWriter } from './responses.ts'

export const answerWriters: Readonly<Record<BuiltInDialect, AnswerWriter>> = {
  responses: responsesWriter,
  chat: chatWriter,
  messages: messagesWriter,
  gemini: geminiWriter,
  bedrock: bedrockWriter,
}

export const isBuiltInDialect = (name: string): name is BuiltInDialect => Object.hasOwn(answerWriters, name)

/** Responses of model ids of the form `say:…`; every other model responds with `text`. */
export const cannedAnswers = {
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
} as const satisfies Record<string, AnswerContent>

export type CannedAnswerName = keyof typeof cannedAnswers

/** The content requested by the model name, a tool call if one is forced, otherwise plain text. */
export function contentFor(body: JsonObject): AnswerContent {
  const wanted = /^say:(.+)$/.exec(String(body.model))?.[1]
  if (wanted !== undefined && Object.hasOwn(cannedAnswers, wanted)) return cannedAnswers[wanted as CannedAnswerName]
  return isDemand(body.tool_choice) || isDemandConfig(body.toolConfig) ? cannedAnswers.tool : cannedAnswers.text
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

export const answerRequestOf = (body: JsonObject): AnswerRequest => ({
  model: typeof body.model === 'string' ? body.model : 'unnamed',
  includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
})
