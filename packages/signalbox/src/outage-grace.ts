export { type GraceEvent, type OutageGraceOptions, withOutageGrace } from '@signalbox/storage/outage-grace'
