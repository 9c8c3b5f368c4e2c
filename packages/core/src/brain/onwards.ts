/** The same clock, which never goes back: what is believed would never get over an hour that has not come yet. */
export function onwards(monotonic: () => number): () => number {
  let latest = Number.NEGATIVE_INFINITY
  return () => {
    latest = Math.max(latest, monotonic())
    return latest
  }
}
