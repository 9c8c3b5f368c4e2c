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

/** Path and body of a request, like those of a small agent. */
interface RequestShape {
  readonly path: string
  readonly body: (asked: Asked) => object
}

const requestShapes: Readonly<Record<Dialect, RequestShape>> = {
  responses: {
    path: '/v1/responses',
    body: ({ model, stream }) => ({
      model,
      temperature,
      stream,
      instructions: system,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: question }] }],
      max_output_tokens: maxOutputTokens,
    }),
  },
  chat: {
    path: '/v1/chat/completions',
    body: ({ model, stream }) => ({
      model,
      temperature,
      stream,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: question },
      ],
      max_completion_tokens: maxOutputTokens,
    }),
  },
}

export const pathOf = ({ dialect }: Asked): string => requestShapes[dialect].path
export const bodyOf = (asked: Asked): string => JSON.stringify(requestShapes[asked.dialect].body(asked))

/** Identifies the request on the provider's side. Model and delivery are in the body. */
export function askedIn(path: string, body: string): Asked | undefined {
  const dialect = dialects.find(dialect => requestShapes[dialect].path === path)
  return dialect && { dialect, model: /"model":"([^"]+)"/.exec(body)?.[1] ?? '', stream: body.includes('"stream":true') }
}
