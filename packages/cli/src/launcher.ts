import { readFileSync } from 'node:fs'
import type { Environment } from './environment.ts'

/** Package managers that start the server, as in `npx -y pnpm@12 start`. */
const launcher = /^(?:\S*\/)?(?:node \S*\/)?(?:npx|npm|pnpm)(?:-cli)?(?:\.[cm]?js)?(?:\s|$)/
/** Package managers start each other through a shell. */
const shell = /^(?:\S*\/)?(?:ba|da|z|k)?sh(?:\s|$)/
const lookMs = 250

interface Link {
  readonly child: number
  readonly parent: number
}

/**
 * Calls `gone` when the package manager that started this process has ended. npx ends on a signal without forwarding it, and the server
 * would continue as an orphan and keep the port. Parents are read from /proc, so this only works on Linux.
 */
export function watchLauncher(environment: Environment, gone: () => void): void {
  if (environment.npm_lifecycle_event === undefined) return
  const link = topmost()
  if (!link) return
  const timer = setInterval(() => {
    if (parentOf(link.child) === link.parent) return
    clearInterval(timer)
    gone()
  }, lookMs)
  timer.unref()
}

/** The topmost launcher above this process, and its child. */
function topmost(): Link | undefined {
  let found: Link | undefined
  let child = process.pid
  for (let parent = parentOf(child); parent !== undefined && parent > 1; child = parent, parent = parentOf(child)) {
    if (launcher.test(commandOf(parent))) found = { child, parent }
    else if (found && !shell.test(commandOf(parent))) break
  }
  return found
}

const readProc = (pid: number, what: 'stat' | 'cmdline'): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8')
  } catch {
    return undefined
  }
}

const commandOf = (pid: number): string => (readProc(pid, 'cmdline') ?? '').replaceAll('\0', ' ')

/** The fourth field; the second is a name in parentheses that may contain anything. */
function parentOf(pid: number): number | undefined {
  const stat = readProc(pid, 'stat')
  const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
  return parent === undefined ? undefined : Number(parent)
}
