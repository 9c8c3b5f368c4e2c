import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isCancel, select } from '@clack/prompts'
import { StartError } from '../fault.ts'
import { quoted } from './app-files.ts'
import type { AppName } from './templates.ts'

/** Asks for the kind of app in a terminal. */
export async function chooseApp(labels: Readonly<Record<AppName, string>>): Promise<AppName> {
  const options = Object.entries(labels).map(([value, label]) => ({ value: value as AppName, label }))
  const chosen = await select<AppName>({ message: 'What does the app run on?', options })
  if (isCancel(chosen)) throw new StartError('Nothing was chosen, and nothing was written.')
  return chosen
}

/** What `npm install` takes: the tarballs that `pnpm tarballs` makes, if the command runs in a clone of the repository. */
export function packageSpec(folder: string): string {
  const root = resolve(folder, '../../..')
  return existsSync(resolve(root, 'pnpm-workspace.yaml')) ? `${quoted(resolve(root, 'tarballs'))}/*.tgz` : 'signalbox'
}
