import type { FailureKind } from './failure.ts'

/** The body of an error response, before a dialect encodes it. */
export interface ErrorBody {
  readonly status: number
  readonly message: string
  readonly type: string
  readonly code: string
  readonly param: string | null
  readonly suggestion?: string
  readonly doc_url?: string
  readonly provider?: string
  readonly request_id?: string
  /** The failed attempts, in order. */
  readonly attempts?: readonly FailedAttempt[]
}

/** A failed provider call, as an error response reports it. */
export interface FailedAttempt {
  readonly provider: string
  readonly kind: FailureKind
  /** The HTTP status of the provider, if it responded. */
  readonly status?: number
}
