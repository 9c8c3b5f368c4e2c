import { mkdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/** Test files of one run do not build the same thing at the same time: they run in processes of one parent. */
export async function oneAtATime<T>(thing: string, build: () => Promise<T>): Promise<T> {
  const lock = join(tmpdir(), `signalbox-build-${thing}-${process.ppid}`)
  while (!isMade(lock)) await setTimeout(200)
  return build().finally(() => rmdirSync(lock))
}

function isMade(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}
