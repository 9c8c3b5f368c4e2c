import { answerWriters } from '@signalbox/testing/answers'
import { type Dialect, dialects } from './dialects.ts'

/** What a request asks for, and in which dialect. */
export interface Asked {
  readonly dialect: Dialect
  readonly model: string
  readonly stream: boolean
}

const system = 'You are the keeper of a signalbox. Answer in one short paragraph, and never name a train that has not passed yet.'
const question = 'Which way did the night mail go, and why did it not wait for the coal train at the junction?'
const temperature = 0.7
const maxOutputTokens = 400

/** Path and body of a request, like those of a small agent. `image`: base64 data sent with the question. */
interface RequestShape {
  readonly path: (asked: Asked) => string
  readonly body: (asked: Asked, image?: string) => object
}

const mediaType = 'image/png'
const dataUrl = (data: string): string => `data:${mediaType};base64,${data}`
const withImage = (data: string | undefined, part: (data: string) => object): readonly object[] => (data === undefined ? [] : [part(data)])

const requestShapes: Readonly<Record<Dialect, RequestShape>> = {
  responses: {
    path: () => '/v1/responses',
    body: ({ model, stream }, image) => ({
      model,
      temperature,
      stream,
      instructions: system,
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: question },
            ...withImage(image, data => ({ type: 'input_image', image_url: dataUrl(data), detail: 'auto' })),
          ],
        },
      ],
      max_output_tokens: maxOutputTokens,
    }),
  },
  chat: {
    path: () => '/v1/chat/completions',
    body: ({ model, stream }, image) => ({
      model,
      temperature,
      stream,
      messages: [
        { role: 'system', content: system },
        {
          role: 'user',
          content:
            image === undefined
              ? question
              : [
                  { type: 'text', text: question },
                  { type: 'image_url', image_url: { url: dataUrl(image) } },
                ],
        },
      ],
      max_completion_tokens: maxOutputTokens,
    }),
  },
  messages: {
    path: () => '/v1/messages',
    body: ({ model, stream }, image) => ({
      model,
      temperature,
      stream,
      system,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: question },
            ...withImage(image, data => ({ type: 'image', source: { type: 'base64', media_type: mediaType, data } })),
          ],
        },
      ],
      max_tokens: maxOutputTokens,
    }),
  },
  gemini: {
    path: ({ model, stream }) => `/v1/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({
      contents: [{ role: 'user', parts: [{ text: question }] }],
      systemInstruction: { parts: [{ text: system }] },
      generationConfig: { temperature, maxOutputTokens },
    }),
  },
  bedrock: {
    path: ({ model, stream }) => `/v1/model/${model}/${stream ? 'converse-stream' : 'converse'}`,
    body: () => ({
      messages: [{ role: 'user', content: [{ text: question }] }],
      system: [{ text: system }],
      inferenceConfig: { temperature, maxTokens: maxOutputTokens },
    }),
  },
}

export const pathOf = (asked: Asked): string => requestShapes[asked.dialect].path(asked)
export const bodyOf = (asked: Asked, image?: string): string => JSON.stringify(requestShapes[asked.dialect].body(asked, image))

/** Identifies the request on the provider's side. Model and delivery are in the path or in the body. */
export function askedIn(path: string, body: string): Asked | undefined {
  for (const dialect of dialects) {
    const writer = answerWriters[dialect]
    const addressed = writer.addressed?.(path)
    if (addressed) return { dialect, ...addressed }
    if (writer.path === path) return { dialect, model: /"model":"([^"]+)"/.exec(body)?.[1] ?? '', stream: body.includes('"stream":true') }
  }
  return undefined
}
