import type { HostSurcharge } from '../protocol/provider.ts'

// Hosts at which tokens cost more than the prices of the catalog say, as the vendors' pages state it. Where they only say that a region
// costs more, `percent` is absent: the usual price is charged, with a warning.

/** Claude 4.5 and later. Older models cost the same everywhere. */
const newerClaude = /^claude-(?!3|(?:opus|sonnet)-4(?:-1)?(?:@|$))/
const vertexHosts = ['*-aiplatform.googleapis.com', 'aiplatform.*.rep.googleapis.com']

/** For `hostSurcharges` of a row. */
export const hostSurcharges = {
  /** Source: developers.openai.com, data residency, 2026-11. */
  openai: [{ host: '*.api.openai.com', percent: 110, since: '2026-03-05' }],
  /** Source: docs.x.ai, regional endpoints, as listed on 2026-11-22. Other regions of it are known, and their prices are not. */
  xai: [
    { host: 'us.api.x.ai', percent: 110, model: /^grok-4\.[67]/ },
    { host: '*.api.x.ai', model: /^grok-4\.[67]/ },
  ],
  /** Source: docs.together.ai, geo-specific inference, 2026-11. */
  together: [
    { host: 'us-api.together.ai', percent: 125 },
    { host: 'ca-api.together.ai', percent: 125 },
  ],
  /** Source: platform.claude.com, pricing, 2026-11, for Claude. Of Gemini 3 and later Google says that other endpoints than the global one cost more. */
  vertex: vertexHosts.flatMap(host => [
    { host, percent: 110, model: newerClaude },
    { host, model: /^gemini-(?![12])/ },
  ]),
} as const satisfies Record<string, readonly HostSurcharge[]>
