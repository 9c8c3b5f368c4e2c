import type { Item } from '../protocol/item.ts'
import { originalOf, pathOf, remember } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Native } from '../protocol/tool.ts'
import { innerDialect, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { imageType } from './generated-image.ts'
import { stringOf } from './json.ts'

// Records of earlier answers that open something stored at the provider. OpenAI reuses the container of an earlier `code_interpreter_call`
// where the tool says `container: { type: 'auto' }`, and reads an image by the id of its call
// (https://platform.openai.com/docs/guides/tools-code-interpreter, https://platform.openai.com/docs/guides/image-generation, 2026-11). All
// other records only contain ids of what they used.

/** The id that a record opens something stored by. Undefined for any other item. */
export function storedIdOf(item: Item): string | undefined {
  if (item.type !== 'native' || item.dialect !== innerDialect) return undefined
  const { body } = item
  const named = stringOf(body.container_id) || (isObject(body.environment) ? stringOf(body.environment.container_id) : '')
  if (item.isRecord && named !== '') return named
  // An image that comes with its bytes or address is decoded, and no such item.
  return (body.type === imageType && stringOf(body.id)) || undefined
}

/** Whether a record names what the same item of an earlier answer named. */
export const isSameRecord = (record: Native, known: JsonObject | undefined): boolean =>
  known !== undefined && storedIdOf(record) === storedIdOf({ ...record, isRecord: true, body: known })

/**
 * The request without records of unknown origin that open something stored, if the credential may not open that. The reasoning before such
 * a record and its result go with it: OpenAI refuses each without the other.
 */
export function withoutStoredRecords(
  request: InferenceRequest,
  mayOpenStored: boolean,
): { readonly request: InferenceRequest; readonly warnings: readonly Warning[] } {
  const { input } = request.prompt
  const isLeft = (item: Item): boolean =>
    item.type === 'native' && item.unknownOrigin !== undefined && !(mayOpenStored && item.unknownOrigin === 'allowed')
  const left = input.filter((item): item is Native => isLeft(item))
  const [first, ...others] = left
  if (!first) return { request, warnings: [] }
  const calls = new Set(left.flatMap(({ body }) => (typeof body.call_id === 'string' ? [body.call_id] : [])))
  const kept: number[] = []
  let isBefore = false
  for (const [at, item] of [...input.entries()].reverse()) {
    const goes = isLeft(item) || (item.type === 'function_call_output' && calls.has(item.call_id))
    isBefore = goes || (isBefore && item.type === 'reasoning')
    if (!isBefore) kept.push(at)
  }
  const param = pathOf(first, `input[${input.indexOf(first)}]`)
  const message = `\`${param}\`${others.length > 0 ? ` and ${others.length} more` : ''} (\`${stringOf(first.body.type)}\`) of earlier answers ${others.length > 0 ? 'name' : 'names'} something stored at the provider, is not known to come from an answer of this gateway to you, and was left out.`
  return {
    request: withItems(request, kept.reverse()),
    warnings: [{ code: 'earlier_output_dropped', message, param }],
  }
}

/** The request with some of its items, and its original with the same ones. */
function withItems(request: InferenceRequest, kept: readonly number[]): InferenceRequest {
  const { input } = request.prompt
  const original = originalOf(request)
  const written = original?.body.input as Json | undefined
  const some = { ...request, prompt: { ...request.prompt, input: kept.flatMap(at => input[at] ?? []) } }
  if (!original || !Array.isArray(written) || written.length !== input.length) return some
  return remember(some, { ...original, body: { ...original.body, input: kept.map(at => (written as readonly Json[])[at] ?? null) } })
}
