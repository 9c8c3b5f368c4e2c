import type { Logger } from '@signalbox/core/runtime'
import { once } from '@signalbox/dialects/common'
import type { Byok } from './byok.ts'
import type { ByokSetting } from './ports.ts'

/** Provider keys of workspaces. The code is loaded when the first of them is used or managed. */
export interface LazyByok extends Pick<Byok, 'refuse' | 'hear' | 'reseal' | 'close'> {
  open(): Promise<Byok>
}

/** Provider keys of workspaces; the code is loaded on first use. */
export function lazyByok(setting: () => ByokSetting, logger: Logger): LazyByok {
  let loaded: Byok | undefined
  let isBegun = false
  const load = once(async () => {
    // Management contains it too, so that both are bundled in one file.
    const { keepByok } = await import('../management.ts')
    loaded = keepByok(setting())
    return loaded
  })
  const open = (): Promise<Byok> => {
    isBegun = true
    return load()
  }
  /** Runs synchronously if the code is loaded. */
  const use = (run: (byok: Byok) => void): void => {
    if (loaded) run(loaded)
    else open().then(run, (error: unknown) => logger.warn({ error: String(error) }, 'The code for provider keys could not be loaded.'))
  }
  return {
    open,
    refuse: (workspaceId, credential, status) => use(byok => byok.refuse(workspaceId, credential, status)),
    hear: (credential, heard) => use(byok => byok.hear(credential, heard)),
    reseal: async () => (await open()).reseal(),
    async close() {
      if (isBegun) await (await open()).close()
    },
  }
}
