import { refuse } from '../common/field-readers.ts'
import { objects } from '../common/json.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { billingHeader } from './billing-header.ts'
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
