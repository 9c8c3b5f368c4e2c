/** What things are worth, in USD, where a typical request of the model costs 0.002. */
export interface Worth {
  /** A second until the first content. */
  readonly waiting: number
  /** A second of the answer's growing. */
  readonly growing: number
  /** A request that fails. */
  readonly failing: number
}

export const preferences = {
  balanced: { waiting: 0.001, growing: 0.0001, failing: 0.05 },
  cost: { waiting: 0.00005, growing: 0.000005, failing: 0.05 },
  latency: { waiting: 0.01, growing: 0.0001, failing: 0.05 },
  throughput: { waiting: 0.0005, growing: 0.0015, failing: 0.05 },
  availability: { waiting: 0.0005, growing: 0.00005, failing: 0.5 },
} as const satisfies Readonly<Record<string, Worth>>

export type Preference = keyof typeof preferences
