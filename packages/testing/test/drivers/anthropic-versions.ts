import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import Anthropic0 from 'anthropic0'
import { betaTool as betaTool0 } from 'anthropic0/helpers/beta/json-schema'

export interface Version {
  readonly version: string
  readonly Package: typeof Anthropic
  readonly betaTool: typeof betaTool
  /** Where it puts its key. */
  readonly keyHeader: 'authorization' | 'x-api-key'
  /** What it adds to the URL of a beta call. */
  readonly betaQuery: string
}

/** Both generations of the package. Of what is used here the types are the same but for their names. */
export const versions: readonly Version[] = [
  { version: '1.11', Package: Anthropic, betaTool, keyHeader: 'authorization', betaQuery: '' },
  {
    version: '0.137',
    Package: Anthropic0 as unknown as typeof Anthropic,
    betaTool: betaTool0 as unknown as typeof betaTool,
    keyHeader: 'x-api-key',
    betaQuery: '?beta=true',
  },
]
