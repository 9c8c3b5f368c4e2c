import { graceFacts } from '@signalbox/storage/compose'
import * as z from 'zod/v4'
import { amountInUsd, either, section, whole } from './schema-fields.ts'

const { graceMs, maxPerProcess, maxPerAccount, maxPerLimitedAccount, maxWaitMs } = graceFacts
const defaultUsd = ({ usual }: { readonly usual: number }): number => usual / 1_000_000
const amount = () => amountInUsd('US dollars', 1_000_000).exactOptional()

const outageFields = section({
  grace_ms: whole(graceMs.least, graceMs.most).exactOptional().meta({
    description: 'Milliseconds from the beginning of an outage for which new requests are let through',
    default: graceMs.usual,
  }),
  per_process_usd: amount().meta({
    description: 'What one process may have held, or owe, at a time without the database',
    default: defaultUsd(maxPerProcess),
  }),
  per_account_usd: amount().meta({
    description: 'The same of one account without a floor: postpaid credit',
    default: defaultUsd(maxPerAccount),
  }),
  per_limited_account_usd: amount().meta({
    description: 'By how much each process may overspend prepaid credit or a budget; with 0 only free requests of theirs are let through',
    default: defaultUsd(maxPerLimitedAccount),
  }),
  max_wait_ms: whole(maxWaitMs.least, maxWaitMs.most).exactOptional().meta({
    description: 'The longest wait for an answer, after which the database is probed for half as long',
    default: maxWaitMs.usual,
  }),
  processes: whole(1, 10_000)
    .exactOptional()
    .describe('Processes that share the database: each admits its share of a limit meanwhile. Default: `workers`'),
})

/** What happens while the database is away: no requests are admitted, or some for a while and within caps (`withOutageGrace`). */
export const onOutage = () =>
  either(
    `\`stop\`, \`continue\`, or an object of ${Object.keys(outageFields.shape).join(', ')}`,
    z.literal(['stop', 'continue']),
    outageFields,
  )
