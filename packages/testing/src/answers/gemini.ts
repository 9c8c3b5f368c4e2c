import type { Frame, JsonObject } from '@signalbox/dialects/protocol'
import { parsed } from '../parsed.ts'
import { type AnswerContent, type AnswerError, type AnswerRequest, type AnswerUsage, type AnswerWriter, pieces, usageOf } from './answer.ts'

const frame = (body: JsonObject): Frame => ({ data: JSON.stringify(body) })

const answer = (request: AnswerRequest, rest: JsonObject): JsonObject => ({ ...rest, modelVersion: request.model, responseId: 'chaos' })

const candidate = (parts: readonly JsonObject[], rest: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, ...rest, index: 0 }],
})

const usageObject = ({ input, output, cached, reasoning }: Required<AnswerUsage>): JsonObject => ({
  usageMetadata: {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: input + output,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  },
})

const reasons = { stop: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY' } as const

/** A refusal is sent as the finish reason, not as a part. */
const finishOf = ({ refusal, finish = 'stop' }: AnswerContent): JsonObject =>
  refusal === undefined ? { finishReason: reasons[finish] } : { finishReason: 'PROHIBITED_CONTENT', finishMessage: refusal }

const signature = 'c2lnbmF0dXJlIG9mIGEgdGhvdWdodA=='

/** Of several calls, the first one is signed. */
const calls = ({ tools = [] }: AnswerContent): readonly JsonObject[] =>
  tools.map(({ id, name, arguments: written }, index) => ({
    functionCall: { ...(id !== '' && { id: id ?? `call_${index + 1}` }), name, args: parsed(written) ?? {} },
    ...(index === 0 && { thoughtSignature: signature }),
  }))

const parts = (script: AnswerContent, cut: (text: string) => readonly string[]): readonly JsonObject[] => [
  ...cut(script.reasoning ?? '').map(text => ({ text, thought: true })),
  ...cut(script.text ?? '').map(text => ({ text })),
  ...calls(script),
]

/** Gemini errors have an HTTP status number, and a name that stands for several errors. */
const errors: ReadonlyMap<string | null, JsonObject> = new Map<string | null, JsonObject>([
  ['rate_limit_exceeded', { code: 429, status: 'RESOURCE_EXHAUSTED' }],
  [
    'insufficient_quota',
    { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }] }] },
  ],
  ['billing_hard_limit_reached', { code: 402, status: 'RESOURCE_EXHAUSTED' }],
  ['invalid_api_key', { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' }] }],
  ['model_not_allowed', { code: 403, status: 'PERMISSION_DENIED' }],
  ['model_not_found', { code: 404, status: 'NOT_FOUND' }],
  ['server_is_overloaded', { code: 503, status: 'UNAVAILABLE' }],
  ['server_error', { code: 500, status: 'INTERNAL' }],
])
const invalid: JsonObject = { code: 400, status: 'INVALID_ARGUMENT' }
const internal: JsonObject = { code: 500, status: 'INTERNAL' }

const errorOf = ({ code, type, message }: AnswerError): JsonObject => ({
  error: { message, ...(errors.get(code) ?? (type === 'invalid_request_error' ? invalid : internal)) },
})

/** Google's Gemini API. Model and delivery are in the path, with any version, since each provider has its own. */
export const geminiWriter: AnswerWriter = {
  path: '/v1beta/models',
  addressed(path) {
    const [, model, method] = /^\/v1(?:beta)?\/models\/(.+):(generateContent|streamGenerateContent)(?:\?.*)?$/.exec(path) ?? []
    return model === undefined ? undefined : { model: decodeURIComponent(model), stream: method === 'streamGenerateContent' }
  },
  write(script, request) {
    const usage = usageOf(script)
    const counted = usage ? usageObject(usage) : {}
    const all = parts(script, text => (text === '' ? [] : [text]))
    return {
      whole: answer(request, { ...candidate(all.length > 0 ? all : [{ text: '' }], finishOf(script)), ...counted }),
      opening: [frame(answer(request, { usageMetadata: { trafficType: 'ON_DEMAND' } }))],
      content: parts(script, pieces).map(part => frame(answer(request, candidate([part])))),
      closing: [frame(answer(request, { ...candidate([{ text: '' }], finishOf(script)), ...counted }))],
    }
  },
  error: errorOf,
  errorFrames: trouble => [frame(errorOf(trouble))],
  failed: errorOf,
  textFrame: (text, request) => frame(answer(request, candidate([{ text }]))),
  unknownFrame: request => frame(answer(request, { future: { kind: 'unheard-of' } })),
}
