import { dayMs } from '@signalbox/dialects/protocol'
import type { ApiReply } from './api.ts'
import { json } from './json-reply.ts'
import type { Call } from './route.ts'

/** Replies that the process is running. */
export const alive = (): ApiReply => json({ status: 'ok' })

/** Older prices are unreliable: one in ten was wrong after 53 days. */
const freshMs = 30 * dayMs

/** A notice for the operator if half of the prices were read more than 30 days ago. */
function noticesOf({ models, clock }: Pick<Call['gateway'], 'models' | 'clock'>): readonly string[] {
  const days = models.list().flatMap(({ offers }) => offers.flatMap(({ asOf }) => asOf ?? []))
  const middle = days.sort()[Math.floor(days.length / 2)]
  if (middle === undefined || clock.now() - Date.parse(middle) <= freshMs) return []
  return [`Half of the prices date from ${middle} or earlier and may be outdated. Update the catalog.`]
}

/** Replies whether requests can be served. */
export async function ready({ gateway }: Call): Promise<ApiReply> {
  const { problems, notices: found } = await gateway.health()
  const notices = [...found, ...noticesOf(gateway)]
  const also = notices.length > 0 ? { notices } : {}
  return problems.length === 0 ? json({ status: 'ok', ...also }) : json({ status: 'not_ready', problems, ...also }, { status: 503 })
}
