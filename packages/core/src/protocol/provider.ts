import type { ProviderDialect } from './dialect.ts'
import type { Quirks } from './model.ts'
import type { DialectName, Frame, JsonObject } from './wire.ts'

/** Whom to call and how to prove who we are. What to say is the dialect's business. */
export interface Provider {
  readonly id: string
  readonly display_name?: string
  readonly dialects: readonly ProviderDialect[]
  /** Ours, if we have an account there. Workspaces may bring their own. */
  readonly credential?: Credential
  /** Shared by all offers of the provider; an offer's own quirks win field by field. */
  readonly quirks?: Quirks
  readonly data_policy?: string
  /** The address to POST to. */
  endpoint(input: { readonly dialect: DialectName; readonly model: string; readonly stream: boolean }): string
  /** Adds the proof of who we are to `headers`. Names in lower case. */
  authorize(headers: Record<string, string>, credential: Credential): void | Promise<void>
  /** A provider that lives in this process answers here instead of over the network (the simulated ones). */
  readonly answer?: LocalAnswer
}

/** Answers in the provider's dialect, as a server would: frames for a stream, a body otherwise. */
export type LocalAnswer = (call: {
  readonly body: JsonObject
  readonly stream: boolean
  readonly signal: AbortSignal
}) => Promise<LocalReply>
export type LocalReply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: JsonObject }
  | { readonly status: 200; readonly frames: AsyncIterable<readonly Frame[]> }

export interface Credential {
  readonly id: string
  readonly owner: 'platform' | 'workspace'
  readonly secret: string
}
