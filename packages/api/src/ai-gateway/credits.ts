import { type Caller, toUsd } from '@signalbox/gateway'
import type { ApiReply } from '../api.ts'
import { actorOf } from '../authorize.ts'
import { json } from '../json-reply.ts'
import type { Call } from '../route.ts'

/** Replies with the credit of the caller's workspace, as strings in USD. */
export async function readCredits(call: Call, caller: Caller): Promise<ApiReply> {
  const { billing } = call.gateway.workspaces(caller.workspaceId, actorOf(caller, call))
  const { balance, spent } = await billing.balance()
  return json({ balance: String(toUsd(balance)), total_used: String(toUsd(spent)) })
}
