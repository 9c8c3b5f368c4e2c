import type { HostSurcharge } from '@signalbox/dialects/protocol'

// Hosts at which tokens cost more than the catalog prices, according to the vendors' pages. If a page only states that a region costs more,
// `percent` is undefined: the usual price is charged, with a warning.

/** Claude 4.5 and later. Older models cost the same everywhere. */
const newerClaude = /^claude-(?!3|(?:opus|sonnet)-4(?:-1)?(?:@|$))/
const vertexHosts = ['*-aiplatform.googleapis.com', 'aiplatform.*.rep.googleapis.com']

/** Surcharges for `ProviderRow.hostSurcharges`. */
export const hostSurcharges = {
  /** Source: developers.openai.com, data residency, 2026-11. */
  openai: [{ host: '*.api.openai.com', percent: 110, since: '2026-03-05' }],
  /** Source: docs.x.ai, regional endpoints, 2026-11-22. xAI has other regions whose prices are not published. */
  xai: [
    { host: 'us.api.x.ai', percent: 110, model: /^grok-4\.[67]/ },
    { host: '*.api.x.ai', model: /^grok-4\.[67]/ },
  ],
  /** Source: docs.together.ai, geo-specific inference, 2026-11. */
  together: [
    { host: 'us-api.together.ai', percent: 125 },
    { host: 'ca-api.together.ai', percent: 125 },
  ],
  /**
   * Source for Claude: platform.claude.com, pricing, 2026-11. For Gemini 3 and later, Google only states that regional endpoints cost more
   * than the global one.
   */
  vertex: vertexHosts.flatMap(host => [
    { host, percent: 110, model: newerClaude },
    { host, model: /^gemini-(?![12])/ },
  ]),
} as const satisfies Record<string, readonly HostSurcharge[]>
