/**
 * Milliseconds that this process has had since then, from the machine: its turns of the event loop, or the time that it computed if
 * that is more. On a busy machine the clock shows more, since other processes had the core in between.
 */
export function startOwnTime(): () => number {
  const everyMs = 5
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), everyMs)
  const cpu = process.cpuUsage()
  return () => {
    clearInterval(timer)
    const { user, system } = process.cpuUsage(cpu)
    return Math.max(ticks * everyMs, (user + system) / 1_000)
  }
}
