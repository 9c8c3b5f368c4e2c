import type { Provider } from '@signalbox/dialects/protocol'
import { providerOptions } from './provider-options.ts'
import { makeVendor, type VendorOptions, type VendorRow, vendorOptions } from './vendor.ts'

const workersAI: VendorRow<'cloudflare-workers-ai'> = {
  id: 'cloudflare-workers-ai',
  displayName: 'Cloudflare Workers AI',
  baseURL: 'https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1',
  apis: ['chat', 'responses'],
  dataPolicy: 'zdr',
  quirks: { maxTokensField: 'max_tokens' },
}

/** Options of `cloudflare`. */
export interface CloudflareOptions extends VendorOptions {
  /** The account the key belongs to. A workspace credential sets its own in `extra.account_id`. */
  readonly accountId?: string | undefined
}

/** Cloudflare Workers AI. */
export function cloudflare(options: CloudflareOptions = {}): Provider<'cloudflare-workers-ai'> {
  const { accountId, ...account } = providerOptions('cloudflare', options, { ...vendorOptions, accountId: 'text' })
  const provider = makeVendor(workersAI, { ...account, extra: accountId === undefined ? undefined : { account_id: accountId } })
  return { ...provider, account: { ...provider.account, options: '`apiKey` and `accountId`' } }
}
