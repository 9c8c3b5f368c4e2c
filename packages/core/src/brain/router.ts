import type { Router, RouterOptions } from './port.ts'

/** Under construction. */
export function createRouter(options: RouterOptions): Router {
  throw new Error(`No router for ${options.offers.length} offers yet.`)
}
