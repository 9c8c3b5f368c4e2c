import type { TierHeader } from '@signalbox/dialects/protocol'

// Maps rate limit headers of responses to account tiers. Contains only limits that the vendors publish, for the models they publish them
// for. Any other limit leaves the tier unknown.

export const accountTiers = {
  /** Source: the models' own pages at developers.openai.com. */
  openai: [
    {
      header: 'x-ratelimit-limit-tokens',
      model: /^gpt-5(-2025-\d\d-\d\d)?$/,
      tiers: { 500000: 'tier_1', 1000000: 'tier_2', 2000000: 'tier_3', 4000000: 'tier_4', 40000000: 'tier_5' },
    },
    {
      header: 'x-ratelimit-limit-tokens',
      model: /^gpt-5-mini(-2025-\d\d-\d\d)?$/,
      tiers: { 500000: 'tier_1', 2000000: 'tier_2', 4000000: 'tier_3', 10000000: 'tier_4', 180000000: 'tier_5' },
    },
  ],
  /** Source: platform.claude.com, rate limits, 2026-10. */
  anthropic: [
    { header: 'anthropic-ratelimit-requests-limit', model: /^claude-fable-5/, tiers: { 1000: 'start', 4000: 'scale' } },
    // Source: models.dev, 2026-11.
    { header: 'anthropic-ratelimit-requests-limit', model: /^claude-opus-5-5/, tiers: { 1000: 'start', 5000: 'build', 10000: 'scale' } },
  ],
} as const satisfies Record<string, readonly TierHeader[]>
