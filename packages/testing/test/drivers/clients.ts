import { anthropicClient } from './anthropic.ts'
import { openaiClients } from './openai.ts'
import type { Client } from './sdk-response.ts'

/** Every client dialect, each through its vendor's own package. */
export const clients: readonly Client[] = [...openaiClients, anthropicClient]
