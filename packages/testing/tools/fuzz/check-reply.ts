// What is wrong with a reply, in words; nothing where it is one of those that are promised.

export type ClientDialectName = 'responses' | 'chat' | 'messages'

export interface ClientReply {
  readonly status: number
  readonly text: string
  readonly isStream: boolean
}

/** Codes that stand for a provider's trouble: the rows of the fault catalogue end in one of these. */
const codesOfProviders: ReadonlySet<unknown> = new Set([
  'provider_error',
  'provider_timeout',
  'deadline_exceeded',
  'server_is_overloaded',
  'rate_limit_exceeded',
  'routing_failed',
])

/** Events that end a stream, by dialect. A chunk with `error` ends a chat stream without `[DONE]`. */
const terminals: Readonly<Record<ClientDialectName, RegExp>> = {
  responses: /^event: response\.(?:completed|incomplete|failed)$/gm,
  chat: /^data: (?:\[DONE\]$|\{"error":)/gm,
  messages: /^event: (?:message_stop|error)$/gm,
}

export function faultOf(clientDialect: ClientDialectName, { status, text, isStream }: ClientReply): string | undefined {
  if (status >= 500) return faultOfError(status, text)
  if (status === 429 || (status >= 400 && status < 500)) return isJson(text) ? undefined : `status ${status} with a body that is no JSON`
  if (status !== 200) return `status ${status}`
  if (!isStream) return isJson(text) ? undefined : 'a whole answer that is no JSON'
  const ends = text.match(terminals[clientDialect])?.length ?? 0
  if (ends !== 1) return `${ends} terminal events`
  const last = text.trimEnd().split('\n\n').at(-1) ?? ''
  return new RegExp(terminals[clientDialect].source, 'm').test(last) ? undefined : 'something behind the terminal event'
}

function faultOfError(status: number, text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly code?: unknown } }
    return codesOfProviders.has(error?.code) ? undefined : `status ${status} with code ${String(error?.code)}`
  } catch {
    return `status ${status} with a body that is no JSON`
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
