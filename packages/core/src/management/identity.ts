import type { Caller } from '../access/caller.ts'

/** Who a key is, for `GET /v1/me`. */
export interface Identity {
  readonly caller: Caller
  readonly limits: { readonly inferenceRpm: number; readonly managementReadsRpm: number; readonly managementWritesRpm: number }
}
