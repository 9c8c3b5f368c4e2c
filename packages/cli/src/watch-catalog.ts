import { statSync } from 'node:fs'
import type { Logger } from '@signalbox/core/runtime'
import type { Model } from '@signalbox/dialects/protocol'
import type { Config } from './schema.ts'

/** Milliseconds between checks of the catalog file. */
const usualPollMs = 5_000

/** How a change of the catalog file is handled. */
export interface CatalogChange {
  readonly catalog: Config['catalog']
  /** Reloads the models; throws if the file is invalid. */
  readonly load: () => readonly Model[]
  readonly replace: (models: readonly Model[]) => void
  readonly logger: Pick<Logger, 'info' | 'error'>
}

/** The file of a catalog, if it has one. */
export const catalogFile = (catalog: Config['catalog']): string | undefined => (typeof catalog === 'object' ? catalog.file : undefined)

/** Reloads a changed catalog file while the server runs. An invalid one is logged once, and the old models stay. Returns a function that stops watching. */
export function watchCatalog({ pollMs, ...change }: CatalogChange & { readonly pollMs?: number }): () => void {
  return watchFile(catalogFile(change.catalog), () => takeCatalog(change), pollMs)
}

/** Reads the catalog file and uses its models. An invalid file is logged, and the old models stay. */
export function takeCatalog({ catalog, load, replace, logger }: CatalogChange): void {
  const file = catalogFile(catalog)
  try {
    const models = load()
    replace(models)
    logger.info({ file, models: models.length }, 'The catalog file changed; its models are now in use.')
  } catch (error) {
    logger.error({ file, error: (error as Error).message }, 'The catalog file changed but is not valid; the previous models stay in use.')
  }
}

/** Calls `onChange` when the file has changed. Returns a function that stops watching. */
export function watchFile(file: string | undefined, onChange: () => void, pollMs = usualPollMs): () => void {
  if (file === undefined) return () => {}
  let seen = versionOf(file)
  const look = (): void => {
    const version = versionOf(file)
    if (version === seen) return
    seen = version
    onChange()
  }
  const timer = setInterval(look, pollMs)
  timer.unref()
  return () => clearInterval(timer)
}

function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? 'missing' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`
}
