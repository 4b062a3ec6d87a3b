/** Common words of tools in French, written for this project. Format: `translations.ts`. */
export const FRENCH = `
delete=supprim-,efface,effacer,effacez,suppression- remove=enleve-,retir-
create=cree,creer,creez,creation-,cres add=ajout- list=liste,lister,listez,enumer-
show=affich-,montr-,voir get=obten-,obtien-,recuper- find=trouv-,retrouv- search=cherch-,recherch-
send=envoi-,envoy-,expedi- post=publie,publier,publiez,poste,poster reply=repond-,reponse-
answer=repond-,reponse- open=ouvr-,ouvert- close=ferme,fermer,fermez,cloture-
update=actualis-,jour change=modifi-,chang- edit=modifi-,edite,editer,editez move=deplac-
copy=copie,copier,copiez rename=renomm- upload=televers- download=telecharg- share=partag-
read=lire,lis,lisez write=ecri-,redig- start=demarr-,lance,lancer,lancez,commenc- stop=arret-
run=execut-,lance,lancer check=verifi-,controle- set=defini-,regle,regler,reglez,mettre,mets
enable=activ- disable=desactiv- book=reserv-,livre,livres cancel=annul-
schedule=planifi-,programm- translate=tradui-,traduct- summarize=resumer,resumez
convert=converti- calculate=calcul- compare=compar- buy=achet-,achat- pay=paie,paye,payer,payez
payment=paiement- play=joue,jouer,jouez,lecture save=enregistr-,sauvegard-
invite=invite,inviter,invitez assign=assign-,attribu- merge=fusionn-,fusion connect=connect-
subscribe=abonn- publish=publie,publier,publiez comment=commentair-,comment-
notify=notifi-,avert-,previen- count=compte,compter,comptez,nombre import=import- export=export-
analyze=analys- generate=gener- test=teste,tester restore=restaur-,retabli-
select=selectionn-,chois- click=clique- record=enregistr-,consign- reset=reinitialis-
approve=approuv- file=fichier- folder=dossier-,repertoire- directory=repertoire- message=messages
mail=courriel-,courrier- email=courriel-,mails calendar=calendrier-,agenda event=evenement-,rendez
meeting=reunion-,rendez task=tache,taches ticket=billet,billets issue=probleme-
bug=bogue-,anomalie- error=erreur- user=utilisat- account=compte,comptes password=passe,passes
customer=cliente,clientele order=commande,commandes invoice=factur- price=prix
product=produit- weather=meteo- forecast=prevision- rain=pluie-,pleuv-,pleut
news=actualite-,nouvelles map=carte card=carte,cartes city=ville,villes route=itinerair-,trajet-
directions=itinerair- place=lieu,lieux,endroit- flight=vol,vols image=photo,photos
song=chanson-,morceau-,titres music=musique- page=pages website=site,sites document=document-
note=note,notes,noter table=tableau- column=colonne- row=ligne,lignes cell=cellule-
database=donnees,bdd data=donnee- query=requete-,interrog- report=rapport- project=projet-
group=groupe- channel=canal,canaux,chaine- contact=contact- label=etiquet-,libelle-
branch=branche- repository=depot,depots log=journal,journaux status=etat,statut-
deploy=deploy-,deploi- time=heure- duration=duree,durees date=dates week=semaine- month=mois
year=annee- day=jours,journee- today=aujourd tomorrow=demain language=langue- word=mot,mots
question=questions address=adresse- phone=telephon- number=numero- key=cle,cles,clef
attachment=jointe,jointes reminder=rappel- draft=brouillon- trash=corbeille
settings=parametre-,reglage- permission=autoris-,droit,droits access=acces
environment=environnement- variable=variables traffic=trafic window=fenetre- button=bouton-
form=formulair- field=champ,champs paper=article- article=article- author=auteur- movie=film,films
recipe=recette- stock=boursi- exchange=change rate=taux currency=devise-,monnaie-
balance=solde,soldes distance=distances coordinates=coordonnee-
new=nouveau,nouvel,nouvelle,nouveaux latest=dernier-,derniere- version=versions member=membre-
employee=employe- company=entreprise-,societe- internet=toile web=toile sheet=feuille-
country=pays title=titre- description=description- content=contenu- game=jeu,jeux,match
statistics=statistique- transcript=transcri- video=videos conversation=conversation-
request=demande- pull=tirage team=equipe- execute=execut- insert=inser- collection=collections
mention=mention- urgent=urgent- priority=priorit-,urgent- call=appel- trending=tendance-
fill=rempli- driving=voiture- vacation=vacances,conges crash=plante- viewer=spectateur-
weekend=weekend link=lien,liens
`;
