import { refuse } from '../common/field-readers.ts'
import { objects } from '../common/json.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// The headers of this dialect: `anthropic-version` and `anthropic-beta`.

export type HeaderReader = (name: string) => string | undefined

/** The version to send if the client names none. */
const defaultVersion = '2023-06-01'
const latestVersion = '2026-10-21'
const versions: ReadonlySet<string> = new Set([defaultVersion, latestVersion])

/** The value becomes an upstream header, so it must not contain a line break. */
const betaPattern = /^[\x20-\x7e]{1,4000}$/

/** Keeps the headers for a provider of this dialect. `billing`: the header that came as a `system` block. */
export function decodeHeaders(header: HeaderReader, billing: string | undefined): Pick<InferenceRequest, 'headers'> {
  const version = header('anthropic-version')
  const beta = header('anthropic-beta')
  if (version && !versions.has(version)) {
    refuse('invalid_parameter_value', `\`anthropic-version\` must be one of ${[...versions].join(', ')}, or left out.`, 'anthropic-version')
  }
  if (beta && !betaPattern.test(beta)) {
    refuse('invalid_parameter_value', '`anthropic-beta` must be a list of names with commas between them.', 'anthropic-beta')
  }
  if (!version && !beta && billing === undefined) return {}
  const values = {
    ...(version && { 'anthropic-version': version }),
    ...(beta && { 'anthropic-beta': beta }),
    ...(billing !== undefined && { [billingHeader]: billing }),
  }
  return { headers: { dialect, values } }
}

/** Forwards the headers of this dialect and no other client headers. */
export function encodeHeaders({ headers }: InferenceRequest): Readonly<Record<string, string>> {
  const received = headers?.dialect === dialect ? Object.entries(headers.values).filter(([name]) => name.startsWith('anthropic-')) : []
  return { 'anthropic-version': defaultVersion, ...Object.fromEntries(received) }
}

/** Rejects fields that the latest API version removed. `body` is already decoded. */
export function checkVersion(body: JsonObject, { headers }: Pick<InferenceRequest, 'headers'>): void {
  if (headers?.values['anthropic-version'] !== latestVersion) return
  for (const field of ['temperature', 'top_p', 'top_k']) {
    const value = body[field]
    if (value !== undefined && value !== null) refuseRemoved(`\`${field}\``, field)
  }
  for (const [at, { role, content }] of objects(body.messages).entries()) {
    for (const [number, block] of objects(content).entries()) {
      const path = `messages[${at}].content[${number}]`
      if (role === 'assistant' && block.type === 'document') refuseRemoved('A `document` block in an assistant message', path)
      if (role === 'user' && block.type === 'text' && objects(block.citations).length > 0) {
        refuseRemoved('`citations` on a user text block', `${path}.citations`)
      }
    }
  }
}

const refuseRemoved = (what: string, param: string): never =>
  refuse('invalid_parameter_value', `${what} was removed in version ${latestVersion} of this API.`, param)

// Claude Code puts a block before `system` that serves Anthropic as a header: `x-anthropic-billing-header: cc_version=…;`. It changes with
// each request, so anywhere else it would only defeat prompt caches. It is stored among the request headers, separate from the prompt, and
// put back before `system` if the offer accepts it (quirk `billingHeader`).

/** The header name, which is also the prefix of the block's text. */
export const billingHeader = 'x-anthropic-billing-header'
const start = `${billingHeader}:`

const isBillingBlock = (block: Json): block is JsonObject & { readonly text: string } =>
  isObject(block) && typeof block.text === 'string' && block.text.startsWith(start)

interface SplitSystem {
  /** The text of the block, if there is one. */
  readonly header?: string
  /** `system` without the block. */
  readonly system: Json | undefined
}

/** Splits `system`, which is a list of blocks, or a text whose first line is the header. Only the first block counts. */
export function splitBillingHeader(system: Json | undefined): SplitSystem {
  if (typeof system === 'string') {
    if (!system.startsWith(start)) return { system }
    const end = system.indexOf('\n')
    return end === -1 ? { header: system, system: undefined } : { header: system.slice(0, end), system: system.slice(end + 1).trimStart() }
  }
  const [first, ...rest] = Array.isArray(system) ? (system as readonly Json[]) : []
  if (first === undefined || !isBillingBlock(first)) return { system }
  return { header: first.text, system: rest.length > 0 ? rest : undefined }
}

/** `system` with the block in front of it. */
export function withBillingHeader(system: Json | undefined, header: string): Json {
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system }] : Array.isArray(system) ? (system as readonly Json[]) : []
  return [{ type: 'text', text: header }, ...blocks]
}
