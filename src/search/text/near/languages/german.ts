/** Common words of tools in German, written for this project. Format: `translations.ts`. */
export const GERMAN = `
delete=losch-,entfern- remove=entfern- erase=losch-,ausloschen create=erstell-,anleg-,erzeug-,lege
add=hinzufug-,hinzu,fuge,erganz- list=auflist-,liste,listen,aufzahl- show=zeig-,anzeig-,anseh-
get=abruf-,rufe,hole,holen,besorg- find=finde,finden,gefunden
search=suche,suchen,durchsuch-,gesucht send=sende,senden,schick-,verschick-,versend-,gesendet
post=poste,posten,veroffentlich- reply=antwort-,beantwort- answer=antwort-,beantwort-
open=offne,offnen,geoffnet close=schließ-,schliess-,geschlossen update=aktualisier-
change=andere,andern,anderung-,verander- edit=bearbeit- move=verschieb-,beweg- copy=kopier-
rename=umbenenn-,benenn- upload=hochlad-,hochgeladen
download=herunterlad-,runterlad-,heruntergeladen share=teile,teilen,freigeb-,freigabe-,geteilt
read=lies,lese,lesen write=schreib-,verfass- start=starte,starten,beginne,beginnen
stop=stoppe-,anhalt-,beend- run=ausfuhr-,fuhre check=pruf-,uberpruf-,kontrollier-
set=setze,setzen,festleg-,einstell-,stelle enable=einschalt-,aktivier-,schalte
disable=ausschalt-,deaktivier- book=buche,buchen,reservier- cancel=stornier-,absag-,abbrech-
schedule=planen,einplan-,zeitplan-,terminplan- translate=ubersetz- summarize=zusammenfass-,fasse
convert=umwandl-,konvertier-,wandle calculate=berechn- compare=vergleich-
buy=kaufe-,kaufen,einkauf- pay=bezahl-,zahle play=spiel-,abspiel- save=speicher-
invite=einlad-,lade assign=zuweis-,weise merge=zusammenfuhr-,zusammenleg- connect=verbind-
subscribe=abonnier- publish=veroffentlich- comment=kommentier-,kommentar- notify=benachrichtig-
count=zahle,zahlen,anzahl import=importier- export=exportier- analyze=analysier-
generate=generier- test=teste,testen restore=wiederherstell-,zuruckhol-,zuruck
select=auswahl-,wahle,wahlen click=klick-,anklick-
record=aufzeichn-,aufnehm-,eintrag-,datensatz-,vermerk- reset=zurucksetz- approve=genehmig-
file=datei- folder=ordner-,verzeichnis- directory=verzeichnis- message=nachricht- mail=mails,post
email=mails,emails calendar=kalender- event=termin,termine,ereignis-,veranstalt-
meeting=besprech-,treffen,sitzung- task=aufgabe- ticket=vorgang,vorgange issue=problem-,vorgang
error=fehler- bug=fehler- user=benutzer-,nutzer- account=konto,konten password=passwort-,kennwort-
customer=kunde-,kundin-,kunden order=bestell-,auftrag- invoice=rechnung- payment=zahlung-
price=preis- product=produkt- weather=wetter- forecast=vorhersag- rain=regen,regnet,regnen
news=nachrichten,neuigkeit- map=karte card=karte,karten city=stadt,stadte,stadten
route=route,strecke- directions=wegbeschreib-,route place=ort,orte,orten flight=flug,fluge,flugen
image=bild,bilder,bildern video=videos song=lied,lieder,liedern,songs music=musik- page=seite-
website=webseite-,internetseite- document=dokument- note=notiz- table=tabelle- column=spalte-
row=zeile- cell=zelle- database=datenbank- query=abfrag- data=daten report=bericht-
project=projekt- group=gruppe- channel=kanal,kanale,kanalen contact=kontakt-
label=etikett-,kennzeich- branch=zweig,zweige repository=repositor- log=protokoll- status=zustand
deploy=bereitstell- time=zeit,zeiten,uhrzeit date=datum week=woche- month=monat-
year=jahr,jahre,jahren day=tage,tagen today=heute tomorrow=morgen language=sprache-
word=wort,worter,wortern question=frage- address=adresse- phone=telefon- number=nummer-,zahl
key=schlussel- attachment=anhang,anhange,anhangen reminder=erinner- draft=entwurf-,entwurfe
trash=papierkorb settings=einstellung- permission=berechtig-,zugriff- access=zugriff-,zugang
environment=umgebung- variable=variablen traffic=verkehr- window=fenster-
button=schaltflache-,knopf form=formular- field=feld,felder paper=aufsatz,aufsatze,papiere
article=artikel- author=autor- movie=filme,filmen recipe=rezept- stock=aktie-
exchange=wechselkurs- rate=wechselkurs- currency=wahrung- balance=kontostand-,guthaben
distance=entfernung- coordinates=koordinate- new=neu,neue,neuen,neuer,neues latest=neueste-
version=fassung- member=mitglied- employee=mitarbeiter- company=firma,firmen,unternehmen-
internet=netz web=netz sheet=blatt,blatter country=land,lander view=ansicht- title=titel
description=beschreib- content=inhalt- game=spiel- statistics=statistik- summary=zusammenfass-
transcript=abschrift-,mitschrift- conversation=unterhaltung-,gesprach- insert=einfug-
collection=sammlung- mention=erwahn- urgent=dringend- priority=prioritat-,dringend-
call=anruf-,angerufen trending=angesagt-,beliebt- fill=ausfull-,ausgefull- driving=auto,autos
vacation=urlaub-,abwesenheit- crash=absturz-,absturz viewer=zuschauer- code=quelltext-
weekend=wochenende link=verknupf-
`;
