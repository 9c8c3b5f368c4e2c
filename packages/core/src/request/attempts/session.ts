import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { isObject, type Json } from '@signalbox/dialects/protocol'

// The session that a request belongs to. Agents send it in a header or inside the user id.

/** Returns a request header by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined

/** The first header present is used. Sources: what each client sends, 2026-11. */
const sessionHeaders = [
  // Several agents; opencode, which sends both.
  'x-session-id',
  'x-session-affinity',
  // Codex. Some proxies drop header names with an underscore.
  'session_id',
  'session-id',
  'x-claude-code-session-id',
  // opencode before it sent `x-session-affinity`, and to its own provider.
  'x-opencode-session',
  // Clients that were written for LiteLLM; docs.litellm.ai, session_id.
  'x-litellm-session-id',
] as const

/** The session named by the request, if any. */
export function sessionOf({ session, prompt }: InferenceRequest, header: HeaderReader | undefined): string | undefined {
  if (session) return session
  for (const name of sessionHeaders) {
    const named = header?.(name)
    if (named) return named
  }
  return prompt.metadata?.[metadataField] || sessionInUser(prompt.safety_identifier ?? prompt.user)
}

/** The field of `metadata` in which clients of LiteLLM name the session. */
const metadataField = 'session_id'

/** Maximum length in characters of a user id that is searched for a session. */
const maxUserLength = 2_048

/** Claude Code sends `{"device_id":"…","session_id":"…"}` or `user_…_session_…` as the user id. */
function sessionInUser(user: string | undefined): string | undefined {
  if (user === undefined || user.length > maxUserLength) return undefined
  if (!user.startsWith('{')) return /_session_([\w-]+)$/.exec(user)?.[1]
  try {
    const value = JSON.parse(user) as Json
    return isObject(value) && typeof value.session_id === 'string' && value.session_id !== '' ? value.session_id : undefined
  } catch {
    return undefined
  }
}
