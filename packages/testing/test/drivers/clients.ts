import { anthropicClient } from './anthropic.ts'
import type { Client } from './heard.ts'
import { openaiClients } from './openai.ts'

/** Every language that clients speak, each by its vendor's own package. */
export const clients: readonly Client[] = [...openaiClients, anthropicClient]
