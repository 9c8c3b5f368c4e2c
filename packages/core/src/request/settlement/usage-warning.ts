import type { MeteredAnswer } from '../../metering/meter.ts'
import type { Warning } from '../../protocol/response.ts'

const usageEstimated: Warning = {
  code: 'usage_estimated',
  message: 'The provider reported no token usage; it was estimated from the prompt and the output text.',
  param: 'usage',
}

/** The warnings of an answer that came to its end, with one more if its provider gave no usage, or zeros. */
export const withUsageWarning = (warnings: readonly Warning[], { usage, outcome, leftAt }: MeteredAnswer): readonly Warning[] =>
  usage || !outcome || outcome.status === 'failed' || leftAt !== undefined ? warnings : [...warnings, usageEstimated]
