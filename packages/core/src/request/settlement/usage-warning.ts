import type { MeteredAnswer } from '../../metering/meter.ts'
import type { Warning } from '../../protocol/response.ts'

const usageEstimated: Warning = {
  code: 'usage_estimated',
  message: 'The provider reported no token usage; it was estimated from the prompt and the output text.',
  param: 'usage',
}

/** The warnings of a response, with one more if it completed and its provider reported no usage, or zeros. */
export const withUsageWarning = (warnings: readonly Warning[], { usage, outcome, leftAt }: MeteredAnswer): readonly Warning[] =>
  usage || !outcome || outcome.status === 'failed' || leftAt !== undefined ? warnings : [...warnings, usageEstimated]
