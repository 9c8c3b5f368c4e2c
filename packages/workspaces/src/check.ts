import { GatewayError } from '@signalbox/dialects/errors'

/** `resource_not_found`: the workspace has no such resource. */
export const absent = (what: string, id: string): GatewayError =>
  new GatewayError('resource_not_found', { message: `There is no ${what} "${id.slice(0, 100)}" in this workspace.` })
